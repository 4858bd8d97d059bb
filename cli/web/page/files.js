// All files that there ever were, by their paths: the way to one that no diff shows.
import { html, useState, useEffect } from "./html.js";
import { get } from "./api.js";
import { Text, Path, count, raw } from "./text.js";

const SOON = 120; // ms after the last key

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

export function FileList({ project, news, onFile }) {
  const [query, setQuery] = useState("");
  const v = usePaths(project, query, news);
  return html`<h2>Files</h2>
    <p><label>Part of the path <input type="search" class="path-filter" autocomplete="off" spellcheck=${false} value=${query} onInput=${(e) => setQuery(e.target.value)} /></label></p>
    <p class="note" role="status">${v.error ? html`<${Text} of=${v.error.message} />` : v.answer ? count(v.answer.total, "file", "files") + ", now or in a checkpoint" : "…"}</p>
    ${v.answer && html`<${Paths} of=${v.answer} onFile=${onFile} />`}`;
}
