// Patches as tables.
import { html, useState, useEffect, useMemo, useRef } from "./html.js";
import { Text, Path, plainPath, raw } from "./text.js";
import { colours } from "./colour.js";
import { Pictures, pictured } from "./parts.js";

const MOST = 600; // lines that are drawn before somebody asks for more
export const CHUNK = 200; // lines that are drawn together, once they are near what is seen
const BESIDE = 1600; // px of a window, from which on lines have their place beside each other
const LINE = 18; // px of a line that was not drawn yet
const LONGEST = 2000; // characters of one line
const WORDS = 20000; // pairs of words of two lines that are compared at most
const SHIFTS = 20; // places at which fewer lines are tried beside more
const ALIKE = 0.3; // of the longer line: what two lines have in common, so that their words are compared

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

// alike is how much two lines have in common at their ends.
function alike(a, b) {
  const most = Math.min(a.length, b.length);
  let from = 0, end = 0;
  while (from < most && a[from] === b[from]) from++;
  while (end < most - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return from + end;
}

// paired lets each line that replaces another one know it: of more lines than before, those in a row that are most alike.
function paired(hunks) {
  for (const { lines } of hunks)
    for (let i = 0, mid, end; i < lines.length; i = Math.max(end, i + 1)) {
      for (mid = i; lines[mid]?.sign === "-"; ) mid++;
      for (end = mid; lines[end]?.sign === "+"; ) end++;
      const [few, many] = [lines.slice(i, mid), lines.slice(mid, end)].sort((x, y) => x.length - y.length);
      let best = 0, most = -1;
      for (let by = 0; by <= Math.min(many.length - few.length, SHIFTS); by++) {
        const sum = few.reduce((n, l, k) => n + alike(l.text, many[by + k].text), 0);
        if (sum > most) [best, most] = [by, sum];
      }
      few.forEach((l, k) => ((l.other = many[best + k]), (l.other.other = l)));
    }
  return hunks;
}

// words gives which pieces of a line, as [from, to], are not in the line that it replaces, or that replaces it.
function words(line) {
  if (!line.other || line.words) return line.words;
  const a = line.sign === "-" ? line : line.other, b = a.other;
  a.words = b.words = [];
  if (a.text.length > LONGEST || b.text.length > LONGEST) return [];
  const x = a.text.match(/\w+|\s+|[^\w\s]/gu) || [], y = b.text.match(/\w+|\s+|[^\w\s]/gu) || [], wide = y.length + 1;
  if (x.length * y.length > WORDS) return [];
  const same = new Uint16Array((x.length + 1) * wide); // the longest common part of what follows
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) same[i * wide + j] = x[i] === y[j] ? same[(i + 1) * wide + j + 1] + 1 : Math.max(same[(i + 1) * wide + j], same[i * wide + j + 1]);
  const out = [[], []], at = [0, 0];
  let common = 0;
  const differs = (side, token) => {
    const last = out[side][out[side].length - 1], end = at[side] + token.length;
    last && last[1] === at[side] ? (last[1] = end) : out[side].push([at[side], end]);
    at[side] = end;
  };
  for (let i = 0, j = 0; i < x.length || j < y.length; ) {
    if (i < x.length && j < y.length && x[i] === y[j]) (common += x[i].trim().length), (at[0] += x[i++].length), (at[1] += y[j++].length);
    else if (j >= y.length || (i < x.length && same[(i + 1) * wide + j] >= same[i * wide + j + 1])) differs(0, x[i++]);
    else differs(1, y[j++]);
  }
  if (common >= ALIKE * Math.max(a.text.trim().length, b.text.trim().length)) [a.words, b.words] = out;
  return line.words;
}

// useWide tells whether the window has a width, in px.
export function useWide(px) {
  const query = `(min-width: ${px}px)`;
  const [wide, setWide] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const asked = matchMedia(query), now = () => setWide(asked.matches);
    asked.addEventListener("change", now);
    return () => asked.removeEventListener("change", now);
  }, []);
  return wide;
}

// Patch shows the lines of a file: beside those that they replace, where there is room. file.reversed: the other way round;
// file.whose: runs of lines, with who brought them; at: a line to show, { line, text }, another object for each time.
// onLine(n) is told which line's number was clicked.
export function Patch({ file, at, narrow, onLine }) {
  const [all, setAll] = useState(false);
  const [ranges, setRanges] = useState(null);
  const table = useRef();
  const wide = useWide(BESIDE);
  const { head, hunks, lines } = useMemo(() => {
    const p = parse(file.patch || ""), hunks = paired(file.reversed ? turned(p.hunks) : p.hunks);
    return { head: file.reversed ? turnedHead(p.head) : p.head, hunks, lines: hunks.flatMap((k) => k.lines) };
  }, [file.patch, file.reversed]);
  const target = useMemo(() => {
    if (!at) return -1;
    const find = (is) => lines.findIndex((l) => l.text.includes(at.text) && is(l));
    return [(l) => l.b === at.line, (l) => at.text && l.sign === "+", () => at.text].map(find).find((i) => i >= 0) ?? -1;
  }, [at, lines]);
  useEffect(() => {
    if (target < 0) return;
    if (target >= MOST && !all) return setAll(true);
    const found = table.current?.querySelector(`[data-i="${target}"]`);
    if (!found) return;
    found.scrollIntoView({ block: "center" });
    flash(found);
  }, [at, target, all]);
  useEffect(() => {
    let live = true;
    setRanges(null);
    if (file.patch && file.patch.length < 200000) colours(file.path, lines.map((l) => l.text)).then((r) => live && setRanges(r));
    return () => (live = false);
  }, [file.patch, file.path]);
  if (file.hidden) return html`<p class="note">Precious: its lines are not shown here.</p>`;
  if (file.large) return html`<p class="note">It is too large to be shown line by line.</p>`;
  if (file.binary) return html`<p class="note">Binary file.</p>`;
  if (file.unread) return html`<p class="note">Its lines are shown once it is saved.</p>`;
  if (file.waiting) return html`<p class="wait">…</p>`;
  if (file.left) return html`<p class="note">${file.failed ? html`<${Text} of=${file.failed} />. ` : "Long: "}<button onClick=${file.load}>${file.failed ? "try again" : "show it"}</button></p>`;
  if (file.cut && !hunks.length) return html`<p class="note">Too long to be shown here: its lines were left out.</p>`;
  if (!hunks.length) return html`<p class="note">${head.length ? html`<${Text} of=${head.join(", ")} />` : "No lines differ."}</p>`;
  const beside = wide && !narrow && lines.some((l) => l.sign === "-") && lines.some((l) => l.sign === "+");
  const whose = (l) => l && l.sign === "+" && (file.whose || []).find((r) => l.b >= r.line && l.b < r.line + r.count);
  const author = (w) => (w && !(w.own && w.sure) ? (w.own ? w.who : w.who || "not known whose") : "");
  const code = (i) => {
    const l = lines[i], w = whose(l), text = author(w);
    return html`${text && text !== author(whose(lines[i - 1])) && html`<span class="whose">${w.own ? "the author is uncertain: " : ""}<${Text} of=${text} most=${120} /></span>`}<${Line} text=${l.text} marks=${ranges && ranges[i]} words=${words(l)} />`;
  };
  const cls = (l) => ({ "+": "in", "-": "out" }[l?.sign] || "");
  const other = (i) => {
    const text = author(whose(lines[i]));
    return { class: text ? (whose(lines[i]).own ? " maybe" : " other") : "", title: text || undefined };
  };
  const row = (i) => {
    const l = lines[i], its = other(i);
    return html`<tr class=${cls(l) + its.class} title=${its.title} data-i=${i}><td class="no">${l.a}</td><td class="no">${l.b}</td><td class="sign">${l.sign === "\\" ? "" : l.sign}</td><td class="code">${code(i)}</td></tr>`;
  };
  const both = (i, j) => {
    const left = i === undefined ? null : lines[i], right = j === undefined ? null : lines[j], its = right ? other(j) : {};
    return html`<tr class=${its.class} title=${its.title} data-i=${j ?? i}><td class=${"no " + (left && cls(left))}>${left && left.a}</td><td class=${"code " + (left && cls(left))}>${left && code(i)}</td><td class=${"no " + (right && cls(right))}>${right && right.b}</td><td class=${"code " + (right && cls(right))}>${right && code(j)}</td></tr>`;
  };
  // rowsOf draws the lines from to.
  const rowsOf = (from, to) => {
    const out = [];
    for (let i = from; i < to; i++) {
      if (!beside) out.push(row(i));
      else if (!cls(lines[i])) out.push(both(i, i));
      else {
        let mid = i, end;
        while (mid < to && lines[mid].sign === "-") mid++;
        for (end = mid; end < to && lines[end].sign === "+"; ) end++;
        const left = mid - i, right = end - mid, fewer = left < right;
        const by = left && right ? lines.indexOf(lines[fewer ? i : mid].other, fewer ? mid : i) - (fewer ? mid : i) : 0, shift = by < 0 ? 0 : fewer ? by : -by; // the first of the fewer lines is beside its like
        for (let k = Math.min(0, shift); k < Math.max(left + shift, right); k++) out.push(both(k >= shift && k < left + shift ? i + k - shift : undefined, k >= 0 && k < right ? mid + k : undefined));
        i = end - 1;
      }
    }
    return out;
  };
  const parts = [];
  let begun = 0;
  for (const k of hunks) {
    const end = Math.min(begun + k.lines.length, all ? Infinity : MOST);
    for (let from = begun; from < end; from += all ? CHUNK : MOST) {
      const to = Math.min(end, from + (all ? CHUNK : MOST)), first = from === begun;
      const draw = () => html`${first && html`<tr class="hunk"><td colspan="4"><${Text} of=${k.head} /></td></tr>`}${rowsOf(from, to)}`;
      parts.push(all ? html`<${Chunk} key=${from} lines=${to - from} draw=${draw} wanted=${target >= from && target < to} />` : html`<tbody>${draw()}</tbody>`);
    }
    begun += k.lines.length;
  }
  const number = (e) => {
    const l = e.target.matches(".no") && lines[e.target.parentElement.dataset.i];
    if (l && l.b) onLine(l.b);
  };
  return html`<table class=${"patch" + (beside ? " beside" : "") + (onLine ? " numbered" : "")} ref=${table} onClick=${onLine && number}><caption class="hidden">Changes of ${plainPath(file)}</caption>
    ${beside && html`<colgroup><col class="numbers" /><col /><col class="numbers" /><col /></colgroup>`}
    ${head.length > 0 && html`<tbody><tr class="hunk"><td colspan="4"><${Text} of=${head.join(", ")} /></td></tr></tbody>`}${parts}</table>
    ${file.cut && html`<p class="note">Too long to be shown here: what follows was left out.</p>`}
    ${!all && lines.length > MOST && html`<p class="note"><button onClick=${() => setAll(true)}>Show all ${lines.length.toLocaleString()} lines</button></p>`}`;
}

// Chunk is some lines of many, which are drawn while they are near what is seen.
export function Chunk({ lines, draw, wanted }) {
  const [near, setNear] = useState(false);
  const ref = useRef(), high = useRef(lines * LINE);
  useEffect(() => {
    const watch = new IntersectionObserver(([e]) => {
      if (!e.isIntersecting && near) high.current = e.boundingClientRect.height;
      setNear(e.isIntersecting);
    }, { root: ref.current.closest(".right, .two > *, .screen, .sheet"), rootMargin: "1500px" });
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, [near]);
  return html`<tbody ref=${ref}>${near || wanted ? draw() : html`<tr><td colspan="4" style=${{ height: high.current + "px" }} /></tr>`}</tbody>`;
}

// Line is a line of code; marks are [length, class] from its beginning, words are [from, to].
export function Line({ text, marks, words }) {
  if ((!marks && !words?.length) || text.length > LONGEST) return html`<${Text} of=${text} most=${LONGEST} />`;
  const out = [];
  let at = 0, w = 0;
  for (const [n, cls] of marks || [[text.length, ""]])
    for (const end = at + n; at < end; ) {
      while (words && w < words.length && words[w][1] <= at) w++;
      const next = words && words[w], within = next && next[0] <= at, from = at;
      at = Math.min(end, next ? next[within ? 1 : 0] : end);
      const piece = html`<${Text} of=${text.slice(from, at)} />`;
      out.push(cls || within ? html`<span class=${(cls ? "c-" + cls : "") + (within ? " word" : "")}>${piece}</span>` : piece);
    }
  return out;
}

const LISTED = 300; // files that are listed before somebody asks for more
const SOON = 300; // ms that a file is looked at before it is asked whose its lines are: that may take long
const FEW = 8; // files that are shown with their lines; of more,
const FIRST = 2; // the first ones

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
export function Files({ files, more, onHistory, onRestore, open, said, linesOf, picture, onLine }) {
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
    ${files.slice(0, listed).map((f, i) => html`<${File} key=${raw(f)} f=${f} at=${i} begin=${files.length <= FEW || i < FIRST} onHistory=${onHistory} onRestore=${onRestore} said=${said} linesOf=${linesOf} picture=${picture} onLine=${onLine} line=${open && open.at === i ? open.line : null} />`)}
    ${files.length > listed && html`<p class="note"><button onClick=${() => setListed(files.length)}>List all ${files.length.toLocaleString()} files</button></p>`}
    ${more && files.length <= listed && html`<p class="note">…and more files.</p>`}
  </div>`;
}

// File is one of them. Its lines are drawn once it is open.
function File({ f, at, begin, onHistory, onRestore, said, linesOf, picture, onLine, line }) {
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
      ${open && f.by && html`<p class="by">by <${Text} of=${f.by} most=${200} />${said && (f.calls || []).length > 0 && html` <button class="link" title="The call that changed it, in the conversation" onClick=${() => said(f.calls[0], f.subagents?.[f.calls[0]])}>where it was said</button>`}</p>`}
      ${open && f.binary && picture && pictured(f.path) ? html`<${Pictures} key=${f.patch} path=${f.path} status=${f.status} of=${(side) => picture(f, side)} />` : open && html`<${Patch} file=${whose ? { ...f, whose } : f} at=${line} onLine=${onLine && ((n) => onLine(raw(f), n))} />`}
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
