// What was said, with the marks that agents write: code, emphasis, headings, lists, quotations. All of it becomes text, none of it HTML.
import { html } from "./html.js";
import { Text } from "./text.js";

const MARKED = 400; // marks of code in a message, above which it is shown without
const LINES = 2000; // and lines of it

const CODE = /(`[^`\n]+`)/;
const STRONG = /(\*\*(?=[^\s*])[^*\n]*?[^\s*]\*\*)/;
const EM = /((?<![\w*])\*(?=[^\s*])[^*\n]*?[^\s*]\*(?![\w*]))/;
const HEADING = /^ {0,3}#{1,6} +(.*?)(?: +#+)?$/;
const QUOTED = /^ {0,3}> ?(.*)$/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;

// cut is a text in turn without and with the mark of size letters at both ends, each drawn by its own function.
const cut = (text, mark, size, without, within) => text.split(mark).map((part, i) => (i % 2 ? within(part.slice(size, -size)) : part && without(part)));

const said = (text) => html`<${Text} of=${text} />`;
const coded = (text, without) => cut(text, CODE, 1, without, (code) => html`<code>${said(code)}</code>`);
const leaning = (text) => cut(text, EM, 1, said, (em) => html`<em>${said(em)}</em>`);

// emphasised is a text of an agent. Code comes first: no mark within it is one. Around it, strong text can have code.
function emphasised(text) {
  const hidden = text.split(CODE).map((part, i) => (i % 2 ? "x".repeat(part.length) : part)).join("");
  let at = 0;
  return hidden.split(STRONG).map((part, i) => {
    const begin = at;
    at += part.length;
    const own = text.slice(begin, at);
    return i % 2 ? html`<strong>${coded(own.slice(2, -2), leaning)}</strong>` : own && coded(own, leaning);
  });
}

// blocks are the lines of a text without code blocks, by what they are: { heading }, { quoted }, { items }, { lines }.
function blocks(text) {
  const out = [];
  let last = null;
  const add = (b) => out.push((last = b));
  for (const line of text.split("\n")) {
    const heading = HEADING.exec(line), quoted = !heading && QUOTED.exec(line), item = !heading && !quoted && ITEM.exec(line);
    if (!line.trim()) last = last && last.items ? last : null;
    else if (heading) add({ heading: heading[1] });
    else if (quoted) last?.quoted ? last.quoted.push(quoted[1]) : add({ quoted: [quoted[1]] });
    else if (item) {
      const ordered = item[2] !== undefined;
      if (!last?.items || last.ordered !== ordered) add({ items: [], ordered });
      last.items.push({ depth: Math.min(3, item[1].length >> 1), number: item[2], text: item[3] });
    } else if (last?.items && /^ {2}/.test(line)) last.items[last.items.length - 1].text += "\n" + line.trim();
    else if (last?.lines) last.lines.push(line);
    else add({ lines: [line] });
    if (heading) last = null;
  }
  return out;
}

function Block({ of }) {
  if (of.heading !== undefined) return html`<p class="heading">${emphasised(of.heading)}</p>`;
  if (of.quoted) return html`<blockquote>${emphasised(of.quoted.join("\n"))}</blockquote>`;
  if (!of.items) return html`<p>${emphasised(of.lines.join("\n"))}</p>`;
  const items = of.items.map((i) => html`<li class=${"depth-" + i.depth} value=${i.number}>${emphasised(i.text)}</li>`);
  return of.ordered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
}

// Words is a message. Of a person's, only code is marked: what they typed is shown as they typed it.
export function Words({ of, person }) {
  const parts = of.split(/^ *```[^\n]*\n?/m);
  if (parts.length > MARKED || of.split("`").length > MARKED || of.split("\n").length > LINES) return html`<p>${said(of)}</p>`;
  return parts.map((part, i) => (i % 2 ? html`<pre>${said(part.replace(/\n$/, ""))}</pre>` : !part.trim() ? null : person ? html`<p>${coded(part.trim(), said)}</p>` : blocks(part).map((b) => html`<${Block} of=${b} />`)));
}
