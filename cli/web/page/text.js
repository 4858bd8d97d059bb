// Texts of others: they can hold any character, and only ever become text.
import { html } from "./html.js";

// What would change how a line is read, or is not seen, is shown as a mark.
// A joiner between emoji is none of them.
const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffd\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/u;
const oddAll = new RegExp(odd.source, "gu");
const MARKS = 1000; // of one text that are told one by one

const name = (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

export function Text({ of, most = 20000 }) {
  let text = of ?? "";
  let cut = false;
  if (text.length > most) {
    text = text.slice(0, most);
    cut = true;
  }
  if (!odd.test(text)) return cut ? [text, html`<span class="mark">…</span>`] : text;
  const out = [];
  let at = 0;
  for (const m of text.matchAll(oddAll)) {
    if (m[0] === "\r" && (text[m.index + 1] === "\n" || m.index + 1 === text.length)) continue;
    out.push(text.slice(at, m.index), html`<span class="mark" title=${name(m[0])}>${name(m[0])}</span>`);
    at = m.index + m[0].length;
    if (out.length > 2 * MARKS) break;
  }
  out.push(out.length > 2 * MARKS ? plain(text.slice(at)) : text.slice(at));
  if (cut) out.push(html`<span class="mark">…</span>`);
  return out;
}

export const plain = (s) => (s ?? "").replace(oddAll, "\u00b7");

// raw is a path as the server takes it back: the bytes of one that is no UTF-8 after //.
export const raw = (p) => (p.path_b64 ? "//" + p.path_b64 : p.path);

export function age(time, now = Date.now()) {
  const s = Math.max(0, (now - Date.parse(time)) / 1000);
  if (s < 60) return Math.floor(s) + "s";
  if (s < 3600) return Math.floor(s / 60) + "m";
  if (s < 86400) return Math.floor(s / 3600) + "h";
  return Math.floor(s / 86400) + "d";
}

export const when = (time) => new Date(time).toLocaleString();

export function size(n) {
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (n < 1024 || unit === "GiB") return (n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)) + " " + unit;
    n /= 1024;
  }
}

export const count = (n, one, many) => n.toLocaleString() + " " + (n === 1 ? one : many);

export function Changes({ of }) {
  if (!of) return null;
  const parts = [];
  if (of.added) parts.push(html`<span class="plus">+${of.added}</span>`);
  if (of.modified) parts.push(html`<span class="tilde">~${of.modified}</span>`);
  if (of.deleted) parts.push(html`<span class="minus">−${of.deleted}</span>`);
  return html`<span class="changes" title=${`${of.added} added, ${of.modified} changed, ${of.deleted} deleted`}>${parts}</span>`;
}
