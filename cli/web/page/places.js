// The other places: a file's versions, operations, search, what is held and what is not, keys.
import { html, useState, useEffect, useMemo, useRef } from "./html.js";
import { bytes, keep, shared, stream } from "./api.js";
import { Text, Path, Changes, age, size, count, plain, raw } from "./text.js";
import { Patch } from "./diff.js";
import { usePaths, Paths } from "./files.js";
import { Copy, More, Pictures, pictured } from "./parts.js";
import { Written } from "./written.js";
import { useAnswer, Wait } from "./answer.js";

const kindWords = { changed: "changed", created: "created", deleted: "deleted", renamed: "renamed", mode: "mode changed", kind: "became another kind", "not-captured": "not captured" };

export function FilePage({ project, path, at: place, news, goTo, restore, set }) {
  // What made each version takes longer: the versions are shown before.
  const bare = useAnswer(`p/${project}/history`, { path, bare: shared ? "" : 1 }, news);
  const whole = useAnswer(bare.answer && !shared ? `p/${project}/history` : "", { path }, news);
  const v = whole.answer || whole.error || (bare.answer?.more && place.version && !bare.answer.versions.some((w) => w.id === place.version)) ? whole : bare;
  const [id, setID] = useState(place.version || null); // of the version that is shown; null: the newest
  const [line, setLine] = useState(place.line ? { line: place.line, text: place.text } : null); // that is shown
  const [error, setError] = useState(null);
  const [all, setAll] = useState(!!place.whole); // all lines, with who wrote them
  const box = useRef();
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const list = v.answer.versions;
  const found = list.findIndex((w) => w.id === id), at = Math.max(0, found);
  const one = list[at];
  const choose = (id, line, lines = all) => (setID(id), setAll(lines), setLine(line ? { line, text: "" } : null), set(id, line, lines));
  const named = one && one.path;
  const pathOf = (w) => (w.path === v.answer.path ? raw(v.answer) : w.path);
  const before = list[at + 1]?.kind !== "deleted" ? list[at + 1] : undefined;
  const picture = async (w) => {
    if (w.id === "@") throw new Error("It is shown once it is saved");
    return bytes(`p/${project}/raw`, { id: w.id, path: pathOf(w), shown: 1 });
  };
  const copy = () => {
    setError(null);
    keep(`p/${project}/raw`, { id: one.id, path: pathOf(one) }, plain(one.path.split("/").pop())).catch(setError);
  };
  const key = (e) => {
    const n = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: list.length - 1 }[e.key];
    if (n === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    if (!list[n]) return;
    choose(list[n].id);
    box.current.querySelectorAll("button")[n]?.focus();
  };
  return html`<h2><span class="path"><${Path} of=${v.answer} /></span></h2>
    <p class="note">${count(list.length, "version", "versions")}${v.answer.more ? ", and older ones" : ""}, the newest first</p>
    ${!list.length && html`<p class="note">No checkpoint has this file.</p>`}
    <div class="two"><ol class="versions" aria-label="Versions, newest first" ref=${box} onKeyDown=${key}>
      ${list.map((w, i) => html`<li key=${w.id + i}><button aria-pressed=${i === at} onClick=${() => choose(w.id)}>
        <span class="first"><span class="n">${w.id === "@" ? "now" : w.n || ""}</span> <span class="kind">${kindWords[w.kind] || w.kind}${w.from && html` from <${Text} of=${w.from} />`}</span>
        ${(w.added > 0 || w.deleted > 0) && html`<span class="changes"><span class="plus">+${w.added}</span> <span class="minus">−${w.deleted}</span></span>`} <span class="age" title=${new Date(w.time).toLocaleString()}>${w.id === "@" ? "" : age(w.time)}</span></span>
        <span class="by"><${Text} of=${(v === bare && !shared ? "…" : w.made) ?? (w.by ? (w.by.why + " " + w.by.text).trim() : "you")} most=${120} />${w.whose && html`<br />by <${Text} of=${w.whose} most=${120} />`}</span></button></li>`)}
    </ol>
    <div class="version">${one && id && id !== "@" && found < 0 && html`<p class="warn" role="alert">no checkpoint "<${Text} of=${id} />" has this file: this is the newest version.</p>`}${one && html`<div class="buttons">${!shared && one.kind !== "deleted" && html`<span class="pair" role="group" aria-label="What is shown">${[[false, "Changes"], [true, "All lines, by whom"]].map(([lines, label]) => html`<button aria-pressed=${all === lines} onClick=${() => choose(one.id, 0, lines)}>${label}</button>`)}</span>`}${one.id !== "@" && html`<button onClick=${() => goTo(one.by ? one.by.id : one.id)}>Show<span class="wide"> in the timeline</span></button>`}
        ${restore && one.id !== "@" && one.kind !== "deleted" && html`<button class="go" onClick=${() => restore(one.id)}>Restore this version…</button>`}
        ${!shared && html`<${More} key=${one.id}>${one.id !== "@" && one.kind !== "deleted" && html`<button onClick=${copy}>Download</button>`}
          <${Copy} text=${() => location.href} title="The address of this version, and of the line whose number was clicked, as long as rewind ui runs">Copy link<//>
          ${!path.startsWith("//") && /^[\w./-]+$/.test(named) && html`<${Copy} text=${"rewind history -p " + named} title=${"rewind history -p " + named}>Copy command <code>rewind history</code><//>`}<//>`}</div>
      ${error && html`<p class="warn" role="alert"><${Text} of=${error.message} />${error.hint && html` (<${Text} of=${error.hint} />)`}</p>`}
      ${all && !shared && one.kind !== "deleted" ? html`<${Written} key=${one.id} project=${project} path=${pathOf(one)} id=${one.id} news=${one.id === "@" && news} at=${line} goTo=${goTo} onLine=${(n) => choose(one.id, n)} />`
      : one && one.binary && !shared && pictured(one.path) ? html`<${Pictures} key=${one.id} path=${one.path} status=${one.kind === "deleted" ? "D" : before ? "M" : "A"} of=${(side) => picture(side === "new" ? one : before)} />`
      : html`<${Patch} file=${{ path: one.path, patch: one.patch, binary: one.binary, large: one.large, hidden: one.hidden }} at=${line} onLine=${(n) => choose(one.id, n)} />`}`}</div></div>`;
}

// turnOf is the row that a revert is about: its argument is the beginning of an id.
const turnOf = (rows, args) => (/^[k-z]{8,}$/.test(args) ? rows.find((r) => r.id.startsWith(args)) : undefined);

export function Operations({ project, rows, news, goTo }) {
  const v = useAnswer(`p/${project}/operations`, {}, news);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const known = new Map(rows.map((r) => [r.id, r]));
  const turn = (args) => {
    const r = turnOf(rows, args);
    return r ? html`<button class="link" onClick=${() => goTo(r.id)}>${r.n || args}</button> <${Text} of=${r.text} most=${80} />` : html`<${Text} of=${args} />`;
  };
  // before names a state that is no row: the one that an operation found.
  const before = (id) => {
    const of = v.answer.operations.find((o) => o.safety === id);
    return of ? `the state before ${of.verb || of.kind}, operation ${of.n}` : "a state that is no row, " + id.slice(0, 8);
  };
  return html`<h2>Operations, newest first</h2>
    <p class="note">Each can be undone: Undo above, or rewind undo.</p>
    ${v.answer.operations.length > 0 && html`<table class="list ops"><thead><tr><th>#</th><th>Age</th><th>Operation</th><th>Changes</th><th>To</th><th>Note</th></tr></thead><tbody>
    ${v.answer.operations.map((o) => html`<tr><td>${o.n}</td><td class="short">${age(o.time)}</td><td>${known.has("#" + o.seq) ? html`<button class="link" onClick=${() => goTo("#" + o.seq)}>${o.verb || o.kind}</button>` : o.verb || o.kind} ${turn(o.args || "")}</td>
      <td class="short"><${Changes} of=${o} /></td><td class="to">${o.checkpoint && known.has(o.checkpoint) ? html`<button class="link" onClick=${() => goTo(o.checkpoint)}>${o.checkpoint_n || html`<${Text} of=${before(o.checkpoint)} most=${80} />`}</button>` : o.checkpoint && html`<${Text} of=${(known.get("#" + o.seq)?.text || "").replace(/^to /, "") || before(o.checkpoint)} most=${80} />`} <${Text} of=${o.prompt || ""} most=${80} /></td>
      <td class="short">${o.taken_back_by ? "undone" : ""}</td></tr>`)}
    </tbody></table>`}${!v.answer.operations.length && html`<p class="note">None yet.</p>`}`;
}

const MOST = 2000; // paths that are listed

export function Health({ project, news }) {
  const v = useAnswer(`p/${project}/health`, {}, news);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const s = v.answer.status, missing = v.answer.coverage.filter((c) => c.path !== ".git"), git = missing.length < v.answer.coverage.length;
  const why = new Map();
  for (const c of missing) why.set(c.reason, (why.get(c.reason) || 0) + 1);
  return html`<h2>What is held, and what is not</h2>
    <p class=${missing.length ? "warn" : "good"}>${missing.length ? count(missing.length, "path is", "paths are") + " not in the newest checkpoint: no restore brings " + (missing.length === 1 ? "it" : "them") + " back." : s.checkpoints ? "Everything in the project is in the newest checkpoint, but what is ignored by choice." : "Nothing is held yet: there is no checkpoint."}</p>
    ${git && html`<p class="note">.git is left to git.</p>`}
    ${!v.answer.called && html`<p class="warn">No agent calls rewind: only rewind save takes checkpoints. rewind config --register-hooks registers them.</p>`}
    <div class="health"><dl class="facts">
      <dt>Checkpoints</dt><dd>${s.checkpoints}</dd>
      <dt>Size on disk</dt><dd>${size(s.bytes || 0)}</dd>
      <dt>Mirror</dt><dd>${s.second_name ? "yes: the store survives git clean -fdx" : html`no: <${Text} of=${s.second_name_reason} />`}</dd>
      <dt>Agents</dt><dd><${Text} of=${v.answer.agents} /></dd>
      ${s.remotes.map((r) => html`<dt>Remote <${Text} of=${r.remote} /></dt><dd>${r.pending ? "not pushed: " + count(r.pending, "checkpoint", "checkpoints") : "everything is pushed"}${r.failed && html`; the last push failed: <${Text} of=${r.failed} />`}</dd>`)}
      ${s.pulled.map((l) => html`<dt>Pulled of <${Text} of=${l.name} /></dt><dd>${count(l.checkpoints, "checkpoint", "checkpoints")}: rewind list <${Text} of=${l.name} />/${l.ahead && html`; it continues from where this store is: rewind restore <${Text} of=${l.name} />/last`}</dd>`)}
      <dt>Last hook error</dt><dd>${s.last_hook_error ? html`<${Text} of=${s.last_hook_error} />` : "none"}</dd>
    </dl>
    <div>${missing.length > 0 && html`<h3>Not in the newest checkpoint</h3>
      <ul class="reasons">${[...why].map(([reason, n]) => html`<li>${n.toLocaleString()}: <${Text} of=${reason} /></li>`)}</ul>
      <table class="list"><thead><tr><th>Path</th><th>Why</th></tr></thead><tbody>${missing.slice(0, MOST).map((c) => html`<tr><td><span class="path"><${Path} of=${c} /></span></td><td><${Text} of=${c.reason} /></td></tr>`)}</tbody></table>
      ${missing.length > MOST && html`<p class="note">…and ${(missing.length - MOST).toLocaleString()} more.</p>`}`}
    ${s.checkpoints > 1 && html`<p class="note">The plan of a restore to an older checkpoint names what that one lacks and is gone.</p>`}</div></div>`;
}

const FEW = 8; // messages that are listed before somebody asks for more: lines in files come below

// useFound gives what a search has found until now, and how it stands: "searching", "done" or what went wrong.
function useFound(path, args) {
  const [found, setFound] = useState([]);
  const [state, setState] = useState("searching");
  useEffect(() => {
    const stop = new AbortController();
    setFound([]);
    setState("searching");
    let list = [], due = false;
    const show = () => ((due = false), !stop.signal.aborted && setFound(list));
    stream(path, args, (m) => {
      if (m.error) return setState(m.error);
      list = [...list, m];
      if (!due) {
        due = true;
        requestAnimationFrame(show);
      }
    }, stop.signal).then(() => stop.signal.aborted || (show(), setState((now) => (now === "searching" ? "done" : now))), (e) => e.name !== "AbortError" && setState(e.message));
    return () => stop.abort();
  }, [path, JSON.stringify(args)]);
  return [found, state];
}

// Hit is a text with what was searched for marked, wherever in it that is.
function Hit({ of, hit, most }) {
  const small = of.toLowerCase(), what = hit.toLowerCase(), first = small.length === of.length ? small.indexOf(what) : -1;
  const begin = first > most - what.length ? Math.max(0, first - 100) : 0, end = begin + most, out = [];
  let at = begin;
  for (let i = first; what && i >= 0 && i < end; i = small.indexOf(what, at)) {
    out.push(html`<${Text} of=${of.slice(at, i)} />`, html`<mark><${Text} of=${of.slice(i, i + what.length)} /></mark>`);
    at = i + what.length;
  }
  return html`${begin > 0 && html`<span class="cut">…</span>`}${out}<${Text} of=${of.slice(at)} most=${Math.max(0, end - at)} />`;
}

export function Search({ project, rows, query, goTo, onFile }) {
  const [found, state] = useFound(`p/${project}/search`, { q: query });
  const [said, talk] = useFound(`p/${project}/search`, { q: query, in: "talk" });
  const named = usePaths(project, query, "");
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [query]);
  const prompts = useMemo(() => {
    const words = query.toLowerCase();
    return rows.filter((r) => r.prompt && r.text.toLowerCase().includes(words)).slice(0, 100);
  }, [rows, query]);
  const byID = new Map(rows.map((r) => [r.id, r]));
  const spoken = useMemo(() => {
    const asked = new Set(prompts.map((r) => r.id));
    const known = new Set(rows.map((r) => r.id));
    return said.map((m) => ({ ...m, row: m.rows.find((id) => known.has(id)) })).filter((m) => !(m.prompt && asked.has(m.row)));
  }, [said, rows, prompts]);
  const row = (id, hit) => (byID.has(id) ? html`<button class="link" onClick=${() => goTo(id, hit)}><${Text} of=${called(byID.get(id))} most=${100} /></button>` : id.slice(0, 8));
  const called = (r) => [r.n, r.why, r.text].filter(Boolean).join(" ");
  // from is the row that brought a line or took it away; where the timeline folds it, it is told all the same.
  const from = (of, id, hit) => {
    if (!of) return id && row(id, hit);
    const known = byID.get(of.id);
    const text = html`<${Text} of=${[of.n || (known && known.n), of.why, turnOf(rows, of.text)?.text || of.text].filter(Boolean).join(" ")} most=${100} />`;
    return known ? html`<button class="link" onClick=${() => goTo(of.id, hit)}>${text}</button>` : text;
  };
  const hitOf = (m) => ({ path: raw(m), line: m.line, text: m.text ?? "" });
  return html`<h2>Search: <${Text} of=${query} /></h2>
    ${prompts.length > 0 && html`<h3>Prompts</h3><ul class="path-list">${prompts.map((r) => html`<li>${row(r.id)}</li>`)}</ul>`}
    ${named.answer && named.query === query && named.answer.total > 0 && html`<h3>Files</h3><${Paths} of=${named.answer} onFile=${(path) => onFile(path, {})} />`}
    <h3>What was said</h3>
    <p role="status" class="note said">${talk === "searching" ? "searching…" : talk === "done" ? count(spoken.length, "message", "messages") : html`<${Text} of=${talk} />`}</p>
    ${spoken.length > 0 && html`<table class="list said"><thead><tr><th>Who</th><th>Text</th><th>Moment</th></tr></thead><tbody>
    ${spoken.slice(0, all ? spoken.length : FEW).map((m) => html`<tr><td>${m.person && m.kind === "words" ? "you" : m.tool && m.kind !== "answer" ? html`<${Text} of=${m.tool} most=${60} />` : m.kind === "words" ? "agent" : m.kind}</td><td><${Hit} of=${m.text} hit=${query} most=${400} /></td>
      <td>${m.row ? row(m.row, { event: m.event, at: m.at }) : "in no row of the timeline"}</td></tr>`)}</tbody></table>
    ${!all && spoken.length > FEW && html`<p class="note"><button onClick=${() => setAll(true)}>Show all ${spoken.length.toLocaleString()}</button></p>`}`}
    <h3>Lines in files, as they came and went</h3>
    <p role="status" class="note files">${state === "searching" ? "searching…" : state === "done" ? count(found.length, "line", "lines") : html`<${Text} of=${state} />`}</p>
    ${found.length > 0 && html`<table class="list lines"><thead><tr><th>File</th><th>Line</th><th>Came with</th><th>Went with</th></tr></thead><tbody>
    ${found.slice(0, 1000).map((m) => html`<tr><td><button class="link" onClick=${() => onFile(raw(m), { id: m.appeared || "@", line: m.line, text: m.text ?? "" })}><${Path} of=${m} /></button>:${m.line}</td><td><code>${m.text === null ? "(precious)" : html`<${Hit} of=${m.text} hit=${query} most=${300} />`}</code></td>
      <td>${from(m.by, m.appeared, hitOf(m)) || "now"}</td><td>${from(m.went, m.vanished)}</td></tr>`)}</tbody></table>`}
    ${found.length > 1000 && html`<p class="note">…and ${(found.length - 1000).toLocaleString()} more: search for more of the line.</p>`}`;
}

const keys = [
  ["Timeline", [["↑ ↓ j k", "row"], ["[ ]", "older, newer prompt"], ["Home End", "newest, oldest row"], ["/", "filter; ↓ goes to the rows, Enter searches the content of all checkpoints"], ["d", "compare with the files as they are now"],
    ["space", "mark a row: it is compared with the chosen one"], ["c", "choose both ends of a comparison"], ["a", "the attempts at the row's prompt"], ["← →", "on the chart: another time; with shift its end, esc: all times"]]],
  ["Changing something", [["Enter r", "plan a restore to the row"], ["v", "plan to revert the row's turn: what it did goes, the rest stays"], ["u U", "undo, redo"], ["n", "name the row's checkpoint"], ["p", "pin it, or take the pin away"]]],
  ["Places", [["f", "files: all that there ever were; who wrote each line"], ["m", "film: space plays, ← → step"], ["o", "operations"], ["s", "space: what takes it, and which prompt brought it"], ["h", "health: what is not held"], ["?", "keys"], ["esc", "back to the timeline"]]],
  ["Comparison", [["a b", "the end that is chosen next"], ["↑ ↓ j k", "another row for it"], ["x", "swap both"]]],
];

export function Keys({ readOnly, shared }) {
  const off = new Set([...(readOnly ? ["Enter r", "v", "u U", "n", "p"] : []), ...(shared ? ["d", "space", "c", "a", "s", "o", "h", "a b", "x"] : [])]);
  const left = keys.map(([of, list]) => [of, list.filter(([k]) => !off.has(k))]).filter(([of, list]) => list.length && !(shared && of === "Comparison"));
  return html`<h2>Keys</h2><div class="cards">${left.map(([of, list]) => html`<section><h3>${of}</h3><dl class="facts">${list.map(([k, what]) => html`<dt>${k.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd>`)}</dl></section>`)}</div>`;
}
