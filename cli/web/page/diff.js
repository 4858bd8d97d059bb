// Patches as tables.
import { html, useState, useEffect, useMemo, useRef } from "./html.js";
import { Text, Path, plainPath, raw } from "./text.js";
import { colours } from "./colour.js";
import { Pictures, pictured } from "./parts.js";

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

// turned is what takes the changes back: what came goes, and the other way round.
function turned(hunks) {
  return hunks.map((k) => {
    const lines = [];
    let gone = [], come = [];
    const flush = () => (lines.push(...gone, ...come), (gone = []), (come = []));
    for (const l of k.lines) {
      const t = { ...l, a: l.b, b: l.a };
      if (l.sign === "+") gone.push({ ...t, sign: "-" });
      else if (l.sign === "-") come.push({ ...t, sign: "+" });
      else flush(), lines.push(t);
    }
    flush();
    return { head: k.head.replace(/^@@ -(\S+) \+(\S+) @@/, "@@ -$2 +$1 @@"), lines };
  });
}

const HEADS = { "new file mode": "deleted file mode", "deleted file mode": "new file mode", "old mode": "new mode", "new mode": "old mode" };
const turnedHead = (head) => head.map((line) => line.replace(/^(new file mode|deleted file mode|old mode|new mode)\b/, (h) => HEADS[h])).sort((a, b) => a.startsWith("new mode") - b.startsWith("new mode"));

// Patch shows the lines of a file. file.reversed: the other way round; file.whose: runs of lines, with who brought them;
// at: a line to show, { line, text }, another object for each time.
export function Patch({ file, at }) {
  const [all, setAll] = useState(false);
  const [ranges, setRanges] = useState(null);
  const table = useRef();
  const { head, hunks } = useMemo(() => {
    const p = parse(file.patch || "");
    return file.reversed ? { head: turnedHead(p.head), hunks: turned(p.hunks) } : p;
  }, [file.patch, file.reversed]);
  useEffect(() => {
    if (!at || !table.current) return;
    const rows = [...table.current.querySelectorAll("tr[data-b]")];
    const has = (tr) => tr.querySelector(".code").textContent.includes(at.text);
    const found = rows.find((tr) => +tr.dataset.b === at.line && has(tr)) || rows.find((tr) => tr.className.startsWith("in") && has(tr)) || rows.find(has);
    if (!found) return void (all || setAll(true));
    found.scrollIntoView({ block: "center" });
    flash(found);
  }, [at, all, file.patch]);
  const total = hunks.reduce((n, k) => n + k.lines.length, 0);
  useEffect(() => {
    let live = true;
    setRanges(null);
    if (file.patch && file.patch.length < 200000) colours(file.path, hunks.flatMap((k) => k.lines.map((l) => l.text))).then((r) => live && setRanges(r));
    return () => (live = false);
  }, [file.patch, file.path]);
  if (file.hidden) return html`<p class="note">Precious: its lines are not shown here.</p>`;
  if (file.binary) return html`<p class="note">Binary file.</p>`;
  if (file.unread) return html`<p class="note">Its lines are shown once it is saved.</p>`;
  if (file.waiting) return html`<p class="wait">…</p>`;
  if (file.left) return html`<p class="note">${file.failed ? html`<${Text} of=${file.failed} />. ` : "Long: "}<button onClick=${file.load}>${file.failed ? "try again" : "show it"}</button></p>`;
  if (file.cut && !hunks.length) return html`<p class="note">Too long to be shown here: its lines were left out.</p>`;
  if (!hunks.length) return html`<p class="note">${head.length ? html`<${Text} of=${head.join(", ")} />` : "No lines differ."}</p>`;
  let shown = 0, begun = 0;
  const whose = (l) => l.sign === "+" && (file.whose || []).find((r) => l.b >= r.line && l.b < r.line + r.count);
  let said = ""; // who, of the line before
  return html`<table class="patch" ref=${table}><caption class="hidden">Changes of ${plainPath(file)}</caption>
    ${head.length > 0 && html`<tbody><tr class="hunk"><td colspan="4"><${Text} of=${head.join(", ")} /></td></tr></tbody>`}
    ${hunks.map((k) => {
      if (!all && shown >= MOST) return null;
      const from = begun;
      begun += k.lines.length;
      const lines = all ? k.lines : k.lines.slice(0, MOST - shown);
      shown += lines.length;
      return html`<tbody>
        <tr class="hunk"><td colspan="4"><${Text} of=${k.head} /></td></tr>
        ${lines.map((l, i) => {
          const w = whose(l);
          const text = w && !(w.own && w.sure) ? (w.own ? w.who : w.who || "not known whose") : "";
          const tell = text !== "" && text !== said;
          said = text;
          return html`<tr class=${(l.sign === "+" ? "in" : l.sign === "-" ? "out" : "") + (text ? (w.own ? " maybe" : " other") : "")} title=${text || undefined} data-b=${l.b || undefined}>
          <td class="no">${l.a}</td><td class="no">${l.b}</td><td class="sign">${l.sign === "\\" ? "" : l.sign}</td>
          <td class="code">${tell && html`<span class="whose">${w.own ? "perhaps not this row's: " : ""}<${Text} of=${text} most=${120} /></span>`}<${Line} text=${l.text} marks=${ranges && ranges[from + i]} /></td></tr>`;
        })}
      </tbody>`;
    })}</table>
    ${file.cut && html`<p class="note">Too long to be shown here: what follows was left out.</p>`}
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

const LISTED = 300; // files that are listed before somebody asks for more
const SOON = 300; // ms that a file is looked at before it is asked whose its lines are: that may take long
const FEW = 8; // files that are shown with their lines

// loadable gives a look whose long files can be asked for, one by one: ask gives the lines of one, drawn is called
// when there is something else to see of it.
export function loadable(look, ask, drawn) {
  for (const f of look.files)
    if (f.left) f.load = async () => {
      if (f.waiting) return;
      f.waiting = true;
      drawn();
      try {
        const lines = await ask(f);
        Object.assign(f, lines, { left: false, cut: lines.left });
      } catch (e) { // it may differ no more
        f.failed = e.message;
      }
      f.waiting = false;
      drawn();
    };
  return look;
}

// Files are the files of a look, folded where they are many. open is one that is shown: { at }, another object for
// each time. said(call) goes to the call that changed a file.
export function Files({ files, more, onHistory, onRestore, open, said, linesOf, picture }) {
  const [listed, setListed] = useState(LISTED);
  const ref = useRef();
  useEffect(() => {
    if (!open) return;
    if (open.at >= listed) return setListed(open.at + 1);
    const file = ref.current.querySelector(`[data-at="${open.at}"]`);
    file.open = true;
    file.scrollIntoView({ block: "nearest" });
    lead(file.querySelector("summary"));
    flash(file);
  }, [open, listed]);
  if (!files.length) return html`<p class="note">No files differ.</p>`;
  return html`<div class="files" ref=${ref}>
    ${files.slice(0, listed).map((f, i) => html`<${File} key=${raw(f)} f=${f} at=${i} begin=${files.length <= FEW} onHistory=${onHistory} onRestore=${onRestore} said=${said} linesOf=${linesOf} picture=${picture} line=${open && open.at === i ? open.line : null} />`)}
    ${files.length > listed && html`<p class="note"><button onClick=${() => setListed(files.length)}>List all ${files.length.toLocaleString()} files</button></p>`}
    ${more && files.length <= listed && html`<p class="note">…and more files.</p>`}
  </div>`;
}

// File is one of them. Its lines are drawn once it is open.
function File({ f, at, begin, onHistory, onRestore, said, linesOf, picture, line }) {
  const [open, setOpen] = useState(begin);
  const [whose, setWhose] = useState(f.whose || null);
  useEffect(() => setWhose(f.whose || null), [f.patch, f.mixed]); // what is known of other lines does not hold for these
  useEffect(() => {
    if (!open || !f.mixed || !linesOf) return;
    const stop = new AbortController();
    const soon = setTimeout(() => linesOf(f, stop.signal).then((v) => setWhose(v.runs), () => {}), SOON); // the file says who, too
    return () => (clearTimeout(soon), stop.abort());
  }, [open, f.patch]);
  const toggle = (e) => {
    setOpen(e.target.open);
    if (e.target.open && f.left && f.load) f.load();
  };
  return html`<div class="file"><details data-at=${at} open=${begin} onToggle=${toggle}>
      <summary><span class=${"st st-" + f.status} title=${{ A: "added", D: "deleted", M: "changed" }[f.status]}>${f.status}</span> <span class="path"><${Path} of=${f} /></span>
        ${(f.added > 0 || f.deleted > 0) && html`<span class="changes"><span class="plus">+${f.added}</span> <span class="minus">−${f.deleted}</span></span>`}
      </summary>
      ${open && f.by && html`<p class="by">by <${Text} of=${f.by} most=${200} />${said && (f.calls || []).length > 0 && html` <button class="link" title="The call that changed it, in the conversation" onClick=${() => said(f.calls[0])}>where it was said</button>`}</p>`}
      ${open && f.binary && picture && pictured(f.path) ? html`<${Pictures} key=${f.patch} path=${f.path} status=${f.status} of=${(side) => picture(f, side)} />` : open && html`<${Patch} file=${whose ? { ...f, whose } : f} at=${line} />`}
    </details><span class="file-links">${onHistory && html`<button class="link" title=${"Versions of " + plainPath(f)} onClick=${() => onHistory(raw(f))}>versions</button>`}
      ${onRestore && html`<button class="link" title=${"Plan to restore only " + plainPath(f)} onClick=${() => onRestore(raw(f))}>restore…</button>`}</span></div>`;
}

// lead gives the focus to where somebody was led to, unless they type elsewhere by now.
export function lead(el) {
  if (!/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) el.focus({ preventScroll: true });
}

// flash shows where somebody was led to.
export function flash(el) {
  el.classList.remove("flash");
  void el.offsetWidth; // begins again
  el.classList.add("flash");
}
