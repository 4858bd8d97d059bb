// The other places: a file's versions, operations, search, what is held and what is not, keys.
import { html, useState, useEffect } from "./html.js";
import { get, stream } from "./api.js";
import { Text, age, size, count, raw } from "./text.js";
import { Patch } from "./diff.js";

function useAnswer(path, args) {
  const [v, setV] = useState({});
  const key = path + JSON.stringify(args);
  useEffect(() => {
    const stop = new AbortController();
    setV({});
    get(path, args, stop.signal).then((answer) => setV({ answer }), (error) => error.name !== "AbortError" && setV({ error }));
    return () => stop.abort();
  }, [key]);
  return v;
}

const Wait = ({ v }) => (v.error ? html`<p class="warn" role="alert"><${Text} of=${v.error.message} />${v.error.hint && html` (<${Text} of=${v.error.hint} />)`}</p>` : html`<p class="wait">…</p>`);

export function FilePage({ project, path, goTo, restore }) {
  const v = useAnswer(`p/${project}/history`, { path });
  const [at, setAt] = useState(0);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const list = v.answer.versions;
  const one = list[at];
  return html`<h2><${Text} of=${v.answer.path} /></h2>
    <div class="two"><ol class="versions" aria-label="Versions, newest first">
      ${list.map((w, i) => html`<li><button aria-pressed=${i === at} onClick=${() => setAt(i)}>
        <span class="n">${w.id === "@" ? "now" : w.n || ""}</span> <span class="age">${age(w.time)}</span> ${w.kind}
        ${w.from && html` from <${Text} of=${w.from} />`} <span class="changes"><span class="plus">+${w.added}</span> <span class="minus">−${w.deleted}</span></span>
        <span class="by"><${Text} of=${w.by ? (w.by.why + " " + w.by.text).trim() : "you"} most=${120} /></span></button></li>`)}
      ${v.answer.more && html`<li class="note">…and older ones.</li>`}
    </ol>
    <div>${one && html`<div class="buttons">${one.id !== "@" && html`<button onClick=${() => goTo(one.by ? one.by.id : one.id)}>Show in the timeline</button>`}
        ${restore && one.id !== "@" && html`<button class="go" onClick=${() => restore(one.id)}>Restore this version…</button>`}</div>
      <${Patch} file=${{ path: one.path, patch: one.patch, binary: one.binary, hidden: one.hidden }} />`}</div></div>`;
}

export function Operations({ project, rows, goTo }) {
  const v = useAnswer(`p/${project}/operations`, { rows: rows.length });
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const known = new Set(rows.map((r) => r.id));
  return html`<h2>Operations, newest first</h2>
    <p class="note">Each can be taken back: rewind undo-restore, or Undo above.</p>
    <table class="list"><thead><tr><th>#</th><th>Age</th><th>Operation</th><th>Changes</th><th>To</th><th>Note</th></tr></thead><tbody>
    ${v.answer.operations.map((o) => html`<tr><td>${o.n}</td><td>${age(o.time)}</td><td>${known.has("#" + o.seq) ? html`<button class="link" onClick=${() => goTo("#" + o.seq)}>${o.verb || o.kind}</button>` : o.verb || o.kind} <${Text} of=${o.args || ""} /></td>
      <td>+${o.added} ~${o.modified} −${o.deleted}</td><td>${o.checkpoint && known.has(o.checkpoint) ? html`<button class="link" onClick=${() => goTo(o.checkpoint)}>${o.checkpoint_n || o.checkpoint.slice(0, 8)}</button>` : o.checkpoint && o.checkpoint.slice(0, 8)} <${Text} of=${o.prompt || ""} most=${80} /></td>
      <td>${o.taken_back_by ? "taken back" : ""}</td></tr>`)}
    </tbody></table>${!v.answer.operations.length && html`<p class="note">None yet.</p>`}`;
}

export function Health({ project }) {
  const v = useAnswer(`p/${project}/health`, {});
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const s = v.answer.status;
  return html`<h2>What is held, and what is not</h2>
    <dl class="facts">
      <dt>Checkpoints</dt><dd>${s.checkpoints}</dd>
      <dt>Size on disk</dt><dd>${size(s.bytes || 0)}</dd>
      <dt>Second name</dt><dd>${s.mirrored ? "all packs have one: rm -rf .agent loses nothing" : html`<${Text} of=${s.mirror_reason || "not all packs have one"} />`}</dd>
      <dt>Last hook error</dt><dd>${s.last_hook_error ? html`<${Text} of=${s.last_hook_error.message || JSON.stringify(s.last_hook_error)} />` : "none"}</dd>
    </dl>
    <h3>Not in the newest checkpoint: ${count(v.answer.coverage.length, "path", "paths")}</h3>
    <table class="list"><thead><tr><th>Path</th><th>Why</th></tr></thead><tbody>${v.answer.coverage.slice(0, 2000).map((c) => html`<tr><td><${Text} of=${c.path} /></td><td><${Text} of=${c.reason} /></td></tr>`)}</tbody></table>`;
}

export function Search({ project, rows, query, goTo, onFile }) {
  const [found, setFound] = useState([]);
  const [state, setState] = useState("searching");
  useEffect(() => {
    const stop = new AbortController();
    setFound([]);
    setState("searching");
    let list = [], due = false;
    const show = () => ((due = false), setFound(list));
    stream(`p/${project}/search`, { q: query }, (m) => {
      if (m.error) return setState(m.error);
      list = [...list, m];
      if (!due) {
        due = true;
        requestAnimationFrame(show);
      }
    }, stop.signal).then(() => (show(), setState("done")), (e) => e.name !== "AbortError" && setState(e.message));
    return () => stop.abort();
  }, [project, query]);
  const words = query.toLowerCase();
  const prompts = rows.filter((r) => r.prompt && r.text.toLowerCase().includes(words)).slice(0, 100);
  const byID = new Map(rows.map((r) => [r.id, r]));
  const row = (id) => (byID.has(id) ? html`<button class="link" onClick=${() => goTo(id)}>${byID.get(id).n || id.slice(0, 8)}</button>` : id.slice(0, 8));
  return html`<h2>Search: <${Text} of=${query} /></h2>
    ${prompts.length > 0 && html`<h3>Prompts</h3><ul>${prompts.map((r) => html`<li>${row(r.id)} <${Text} of=${r.text} most=${200} /></li>`)}</ul>`}
    <h3>Lines in files, as they came and went</h3>
    <p role="status" class="note">${state === "searching" ? "searching…" : state === "done" ? count(found.length, "line", "lines") : html`<${Text} of=${state} />`}</p>
    <table class="list"><thead><tr><th>File</th><th>Line</th><th>Appeared</th><th>Gone</th></tr></thead><tbody>
    ${found.slice(0, 1000).map((m) => html`<tr><td><button class="link" onClick=${() => onFile(raw(m))}><${Text} of=${m.path} /></button>:${m.line}</td><td><code>${m.text === null ? "(precious)" : html`<${Text} of=${m.text} most=${300} />`}</code></td>
      <td>${m.appeared ? row(m.appeared) : "now"}</td><td>${m.vanished ? row(m.vanished) : ""}</td></tr>`)}</tbody></table>`;
}

export function Keys({ readOnly, shared }) {
  const keys = [["↑ ↓ j k", "row"], ["[ ]", "previous, next prompt"], !readOnly && ["Enter r", "plan a restore to the row"], !readOnly && ["v", "plan to take back the row's turn, and keep the rest"], !readOnly && ["u U", "undo, redo"], !shared && ["d", "compare with the files as they are now"],
    !shared && ["space", "mark a row: it is compared with the chosen one"], ["/", "filter; ↓ goes to the rows, Enter searches the content of all checkpoints"], ["m", "film"], !shared && ["o", "operations"], ["esc", "back"]].filter(Boolean);
  return html`<h2>Keys</h2><dl class="facts">${keys.map(([k, what]) => html`<dt><kbd>${k}</kbd></dt><dd>${what}</dd>`)}</dl>`;
}
