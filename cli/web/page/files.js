// All files that there ever were, by their paths: the way to one that no diff shows.
import { html, useState, useEffect } from "./html.js";
import { get } from "./api.js";
import { useWide } from "./diff.js";
import { Text, Path, count, raw } from "./text.js";

const SOON = 120; // ms after the last key
const ROOM = 1200; // px of a window, from which on a file is beside the list

// usePaths gives the files whose paths have all words of a text, and how it stands.
export function usePaths(project, query, news) {
  const [v, setV] = useState({});
  useEffect(() => {
    const stop = new AbortController();
    const ask = () => get(`p/${project}/paths`, { q: query }, stop.signal).then((answer) => setV({ query, answer }), (error) => error.name !== "AbortError" && setV({ query, error }));
    const soon = setTimeout(ask, v.query === undefined ? 0 : SOON);
    return () => (clearTimeout(soon), stop.abort());
  }, [project, query, news]);
  return v;
}

// Paths are files, each a way to its versions.
export const Paths = ({ of, onFile }) => html`<ul class="path-list">${of.paths.map((p) => html`<li key=${raw(p)}><button class="link" onClick=${() => onFile(raw(p))}><span class="path"><${Path} of=${p} /></span></button>${p.gone && html` <span class="note">deleted</span>`}</li>`)}</ul>
  ${of.total > of.paths.length && html`<p class="note">…and ${(of.total - of.paths.length).toLocaleString()} more: type more of the name.</p>`}`;

const last = (p) => ({ ...p, path: p.path.slice(p.path.lastIndexOf("/") + 1), path_b64: p.path_b64 && btoa(atob(p.path_b64).slice(atob(p.path_b64).lastIndexOf("/") + 1)) });

// Tree is a directory of all that there ever were: what is in it is asked for once it is open.
function Tree({ project, at, news, onFile, label, path, found }) {
  const [v, setV] = useState({});
  useEffect(() => {
    const stop = new AbortController();
    get(`p/${project}/tree`, { path: at }, stop.signal).then((answer) => setV({ answer }), (error) => error.name !== "AbortError" && setV({ error }));
    return () => stop.abort();
  }, [project, at, news]);
  useEffect(() => v.answer && found && found(v.answer.paths), [v.answer]);
  if (v.error) return html`<p class="warn" role="alert"><${Text} of=${v.error.message} /></p>`;
  if (!v.answer) return html`<p class="wait">…</p>`;
  const only = v.answer.paths.length === 1; // one directory alone is open, too
  return html`<ul class="tree" aria-label=${label}>${v.answer.paths.map((p) => html`<li key=${raw(p)}>${p.files ? html`<${Branch} project=${project} p=${p} begin=${only || path.startsWith(raw(p) + "/")} news=${news} onFile=${onFile} path=${path} />`
    : html`<button class=${"link" + (p.gone ? " gone" : "")} aria-current=${raw(p) === path ? "true" : undefined} onClick=${() => onFile(raw(p))}><span class="path"><${Path} of=${last(p)} /></span></button>${p.gone && html` <span class="note">deleted</span>`}`}</li>`)}</ul>`;
}

function Branch({ project, p, begin, news, onFile, path }) {
  const [open, setOpen] = useState(begin);
  useEffect(() => void (begin && setOpen(true)), [begin]); // and it stays open
  return html`<details open=${open} onToggle=${(e) => setOpen(e.target.open)}><summary><span class="path"><${Path} of=${last(p)} />/</span> <span class="note">${count(p.files, "file", "files")}</span></summary>${open && html`<${Tree} project=${project} at=${raw(p)} news=${news} onFile=${onFile} path=${path} />`}</details>`;
}

// FilePlace is the list of all files, or one of them: where there is room, both beside each other, and at first the one that
// says what the project is. show(path) draws a file.
export function FilePlace({ project, news, path, onFile, show }) {
  const wide = useWide(ROOM);
  const [first, setFirst] = useState("");
  const found = (paths) => {
    const files = paths.filter((p) => !p.files && !p.gone);
    setFirst(raw(files.find((p) => /^readme/i.test(p.path)) || files[0] || { path: "" }));
  };
  if (!wide) return path ? show(path) : html`<${FileList} project=${project} news=${news} path="" onFile=${onFile} />`;
  const shown = path || first;
  return html`<div class="beside-list"><section aria-label="List of files"><${FileList} project=${project} news=${news} path=${shown} onFile=${onFile} found=${found} /></section>
    <section aria-label="File">${shown && show(shown)}</section></div>`;
}

function FileList({ project, news, path, onFile, found }) {
  const [query, setQuery] = useState("");
  const v = usePaths(project, query, news);
  return html`<h2>Files</h2>
    <p><label>Part of the path <input type="search" class="path-filter" autocomplete="off" spellcheck=${false} value=${query} onInput=${(e) => setQuery(e.target.value)} /></label></p>
    <p class="note" role="status">${v.error ? html`<${Text} of=${v.error.message} />` : v.answer ? count(v.answer.total, "file", "files") + (query ? " with it" : ", now or in a checkpoint; each has its versions and who wrote its lines") : "…"}</p>
    ${query ? v.answer && html`<${Paths} of=${v.answer} onFile=${onFile} />` : html`<${Tree} project=${project} at="" news=${news} onFile=${onFile} label="All files" path=${path} found=${found} />`}`;
}
