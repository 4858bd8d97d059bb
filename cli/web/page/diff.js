// Patches as tables.
import { html, useState, useEffect, useRef } from "./html.js";
import { Text, plain, raw } from "./text.js";
import { colours } from "./colour.js";

const MOST = 600; // lines that are drawn before somebody asks for more
const LONGEST = 2000; // characters of one line

// parse reads a patch in git's format into hunks of lines with their numbers.
export function parse(patch) {
  const hunks = [];
  const head = [];
  let hunk = null, a = 0, b = 0;
  for (const line of patch.split("\n")) {
    const m = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (m) {
      a = +m[1];
      b = +m[2];
      hunk = { head: line, lines: [] };
      hunks.push(hunk);
    } else if (!hunk) {
      if (line && !/^(diff --git|index |--- |\+\+\+ )/.test(line)) head.push(line);
    } else if (line[0] === "+") hunk.lines.push({ sign: "+", a: "", b: b++, text: line.slice(1) });
    else if (line[0] === "-") hunk.lines.push({ sign: "-", a: a++, b: "", text: line.slice(1) });
    else if (line[0] === " ") hunk.lines.push({ sign: " ", a: a++, b: b++, text: line.slice(1) });
    else if (line[0] === "\\") hunk.lines.push({ sign: "\\", a: "", b: "", text: line.slice(1) });
  }
  return { head, hunks };
}

export function Patch({ file }) {
  const [all, setAll] = useState(false);
  const [ranges, setRanges] = useState(null);
  const { head, hunks } = parse(file.patch || "");
  const total = hunks.reduce((n, k) => n + k.lines.length, 0);
  useEffect(() => {
    let live = true;
    setRanges(null);
    if (file.patch && file.patch.length < 200000) colours(file.path, hunks.flatMap((k) => k.lines.map((l) => l.text))).then((r) => live && setRanges(r));
    return () => (live = false);
  }, [file.patch, file.path]);
  if (file.hidden) return html`<p class="note">Precious: its lines are not shown here.</p>`;
  if (file.binary) return html`<p class="note">Binary file.</p>`;
  if (file.left) return html`<p class="note">Long: <button onClick=${file.load}>show it</button></p>`;
  if (file.cut && !hunks.length) return html`<p class="note">Too long for this file: its lines were left out.</p>`;
  if (!hunks.length) return html`<p class="note">${head.length ? html`<${Text} of=${head.join(", ")} />` : "No lines differ."}</p>`;
  let shown = 0, at = 0;
  return html`<table class="patch"><caption class="hidden">Changes of ${plain(file.path)}</caption>
    ${head.length > 0 && html`<tbody><tr class="hunk"><td colspan="4"><${Text} of=${head.join(", ")} /></td></tr></tbody>`}
    ${hunks.map((k) => {
      if (!all && shown >= MOST) return null;
      const from = at;
      at += k.lines.length;
      const lines = all ? k.lines : k.lines.slice(0, MOST - shown);
      shown += lines.length;
      return html`<tbody>
        <tr class="hunk"><td colspan="4"><${Text} of=${k.head} /></td></tr>
        ${lines.map((l, i) => html`<tr class=${l.sign === "+" ? "in" : l.sign === "-" ? "out" : ""}>
          <td class="no">${l.a}</td><td class="no">${l.b}</td><td class="sign">${l.sign === "\\" ? "" : l.sign}</td>
          <td class="code"><${Line} text=${l.text} marks=${ranges && ranges[from + i]} /></td></tr>`)}
      </tbody>`;
    })}</table>
    ${file.cut && html`<p class="note">Too long for this file: what follows was left out.</p>`}
    ${!all && total > MOST && html`<p class="note"><button onClick=${() => setAll(true)}>Show all ${total.toLocaleString()} lines</button></p>`}`;
}

// Line is a line of code; marks are [length, class] from its beginning.
export function Line({ text, marks }) {
  if (!marks || text.length > LONGEST) return html`<${Text} of=${text} most=${LONGEST} />`;
  let at = 0;
  return marks.map(([n, cls]) => {
    const piece = text.slice(at, (at += n));
    return cls ? html`<span class=${"c-" + cls}><${Text} of=${piece} /></span>` : html`<${Text} of=${piece} />`;
  });
}

// Files are the files of a look, folded by what is long, the one that is chosen open.
export function Files({ files, more, onHistory, open, setOpen }) {
  const ref = useRef();
  useEffect(() => {
    if (open !== null && ref.current) ref.current.querySelector(`[data-at="${open}"]`)?.scrollIntoView({ block: "nearest" });
  }, [open]);
  if (!files.length) return html`<p class="note">No files differ.</p>`;
  return html`<div class="files" ref=${ref}>
    ${files.map((f, i) => html`<div class="file" key=${raw(f)}><details data-at=${i} open=${files.length <= 8 || i === open} onToggle=${(e) => e.target.open && f.left && f.load && f.load()}>
      <summary><span class=${"st st-" + f.status}>${f.status}</span> <span class="path"><${Text} of=${f.path} /></span>
        ${(f.added > 0 || f.deleted > 0) && html`<span class="changes"><span class="plus">+${f.added}</span> <span class="minus">−${f.deleted}</span></span>`}
        ${f.by && html`<span class="by">by <${Text} of=${f.by} most=${200} /></span>`}
      </summary>
      <${Patch} file=${f} />
    </details>${onHistory && html`<button class="link" title=${"Versions of " + plain(f.path)} onClick=${() => onHistory(raw(f))}>versions</button>`}</div>`)}
    ${more && html`<p class="note">…and more files.</p>`}
  </div>`;
}
