// Texts of others: they can hold any character, and only ever become text.
import { html } from "./html.js";
import { isCalm, useCalm } from "./calm.js";

// What would change how a line is read, or is not seen, is shown as a mark.
// A joiner between emoji is none of them.
const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffd\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/u;
const oddAll = new RegExp(odd.source, "gu");
// Most texts have none of them, which is told without that expression: a browser takes 20 ms to make it.
const usual = /^[\t\n -~]*$/;
const likely = /[^\t\n -~\u00a1-\u00ac\u00ae-\u060f\u0620-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\uf900-\ufef0]/;
const isOdd = (text) => !usual.test(text) && likely.test(text) && odd.test(text);
const MARKS = 1000; // of one text that are told one by one

const name = (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

export function Text({ of, most = 20000 }) {
  let text = of ?? "";
  let cut = false;
  if (text.length > most) {
    text = text.slice(0, most);
    cut = true;
  }
  if (!isOdd(text)) return cut ? [text, html`<span class="cut">…</span>`] : text;
  const out = [];
  let at = 0;
  for (const m of text.matchAll(oddAll)) {
    if (m[0] === "\r" && (text[m.index + 1] === "\n" || m.index + 1 === text.length)) continue;
    out.push(text.slice(at, m.index), html`<span class="mark" title=${name(m[0])}>${name(m[0])}</span>`);
    at = m.index + m[0].length;
    if (out.length > 2 * MARKS) break;
  }
  out.push(out.length > 2 * MARKS ? plain(text.slice(at)) : text.slice(at));
  if (cut) out.push(html`<span class="cut">…</span>`);
  return out;
}

export const plain = (s) => (s && isOdd(s) ? s.replace(oddAll, "\u00b7") : (s ?? ""));

// Path is the name of a file. What a line cannot show of it is told by its escape, so that no name looks like another.
export function Path({ of }) {
  return pieces(of).map(([text, escaped]) => (escaped ? html`<span class="mark" title="a byte or character of the name">${text}</span>` : text));
}

// plainPath is the same where only a text can be.
export const plainPath = (of) => pieces(of).map(([text]) => text).join("");

const breaks = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function pieces(of) {
  const out = [];
  const bytes = of.path_b64 ? Uint8Array.from(atob(of.path_b64), (c) => c.charCodeAt(0)) : null;
  const valid = (text) => {
    let at = 0;
    for (const m of text.matchAll(/[\n\r\t]|^ | $/g)) {
      mark(text.slice(at, m.index));
      out.push([breaks[m[0]] || "\\x20", true]);
      at = m.index + 1;
    }
    mark(text.slice(at));
  };
  const mark = (text) => {
    if (!isOdd(text)) return void out.push([text, false]);
    let at = 0;
    for (const m of text.matchAll(oddAll)) {
      out.push([text.slice(at, m.index), false], [name(m[0]), true]);
      at = m.index + m[0].length;
    }
    out.push([text.slice(at), false]);
  };
  if (!bytes) {
    valid(of.path);
    return out;
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let run = "";
  for (let i = 0; i < bytes.length; ) {
    const n = bytes[i] < 0x80 ? 1 : bytes[i] < 0xe0 ? 2 : bytes[i] < 0xf0 ? 3 : 4;
    try {
      run += decoder.decode(bytes.subarray(i, i + n));
      i += n;
    } catch {
      valid(run);
      run = "";
      out.push(["\\x" + bytes[i++].toString(16).toUpperCase().padStart(2, "0"), true]);
    }
  }
  valid(run);
  return out;
}

// raw is a path as the server takes it back: the bytes of one that is no UTF-8 after //.
export const raw = (p) => (p.path_b64 ? "//" + p.path_b64 : p.path);

export function age(time, now = Date.now()) {
  const s = Math.max(0, (now - (typeof time === "number" ? time : Date.parse(time))) / 1000);
  if (s < 60) return Math.floor(s) + "s";
  if (s < 3600) return Math.floor(s / 60) + "m";
  if (s < 86400) return Math.floor(s / 3600) + "h";
  return Math.floor(s / 86400) + "d";
}

// when writes a time. A browser needs 20 ms for the first one: nothing that is drawn first says one.
export const when = (time) => new Date(time).toLocaleString();

export function size(n) {
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (n < 1024 || unit === "GiB") return (n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)) + " " + unit;
    n /= 1024;
  }
}

// number writes a number. A browser needs 15 ms and more for the first one that it separates as the person's language wants
// it: until all rows are there, it is a comma.
export const number = (n) => (n < 1000 ? String(n) : isCalm() ? n.toLocaleString() : String(n).replace(/\B(?=(\d{3})+$)/g, ","));

// Count is a number that is drawn first.
export function Count({ of }) {
  useCalm();
  return number(of);
}

export const count = (n, one, many) => number(n) + " " + (n === 1 ? one : many);

export function Changes({ of }) {
  if (!of) return null;
  const parts = [];
  if (of.added) parts.push(html`<span class="plus">+${of.added}</span>`);
  if (of.modified) parts.push(html`<span class="tilde">~${of.modified}</span>`);
  if (of.deleted) parts.push(html`<span class="minus">−${of.deleted}</span>`);
  return html`<span class="changes" title=${`${of.added} added, ${of.modified} changed, ${of.deleted} deleted`}>${parts}</span>`;
}
