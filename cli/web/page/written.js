// A whole file, with who wrote each line beside it.
import { html, useState, useEffect, useRef } from "./html.js";
import { useAnswer, Wait } from "./answer.js";
import { colours } from "./colour.js";
import { CHUNK, Chunk, Line, flash } from "./diff.js";
import { Hue } from "./timeline.js";
import { Text, plain, plainPath } from "./text.js";

const COLOURED = 5000; // lines: more have no colours

// Written is a whole file as a version has it; beside its lines stands what wrote them.
export function Written({ project, path, id, news, at, goTo, onLine }) {
  const v = useAnswer(`p/${project}/written`, { path, id }, news);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  if (v.answer.why) return html`<p class="note">No lines are shown: ${v.answer.why}.</p>`;
  const by = (r) => {
    const text = html`<${Hue} of=${r.session} /><${Text} of=${(!r.unsure && r.prompt) || r.who || "not known"} most=${80} />`;
    const title = [r.who, r.prompt, r.time && new Date(r.time).toLocaleString()].filter(Boolean).map(plain).join("\n");
    return r.row ? html`<button class="link" title=${title} onClick=${() => goTo(r.row.id)}>${text}</button>` : html`<span title=${title}>${text}</span>`;
  };
  return html`<${Whole} file=${v.answer} by=${by} at=${at} onLine=${onLine} />`;
}

// Whole is all lines of a file: file.lines, and of file.runs what brought them, which by draws.
function Whole({ file, by, at, onLine }) {
  const [ranges, setRanges] = useState(null);
  const table = useRef();
  const { lines, runs } = file;
  useEffect(() => {
    let live = true;
    if (lines.length < COLOURED) colours(file.path, lines).then((r) => live && setRanges(r));
    return () => (live = false);
  }, [file]);
  const target = at ? at.line - 1 : -1;
  useEffect(() => {
    const found = target >= 0 && table.current?.querySelector(`[data-i="${target}"]`);
    if (!found) return;
    found.scrollIntoView({ block: "center" });
    flash(found);
  }, [at, file]);
  if (!lines.length) return html`<p class="note">The file is empty.</p>`;
  const first = new Map(runs.map((r) => [r.line - 1, r]));
  const draw = (from, to) => () => {
    const out = [];
    for (let i = from; i < to; i++) {
      const r = first.get(i);
      out.push(html`<tr data-i=${i} class=${r && i ? "run" : ""}><td class="whose-line">${r && by(r)}</td><td class="no">${i + 1}</td><td class="code"><${Line} text=${lines[i]} marks=${ranges && ranges[i]} /></td></tr>`);
    }
    return out;
  };
  const parts = [];
  for (let from = 0; from < lines.length; from += CHUNK) {
    const to = Math.min(lines.length, from + CHUNK);
    parts.push(html`<${Chunk} key=${from} lines=${to - from} draw=${draw(from, to)} wanted=${from === 0 || (target >= from && target < to)} />`);
  }
  return html`<table class="patch whole numbered" ref=${table} onClick=${(e) => e.target.matches(".no") && onLine(+e.target.parentElement.dataset.i + 1)}><caption class="hidden">All lines of ${plainPath(file)}, and who wrote them</caption>${parts}</table>
    ${file.cut && html`<p class="note">Too long to be shown here: what follows was left out.</p>`}`;
}
