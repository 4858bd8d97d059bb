// Two moments beside each other: both ends are chosen in the same list.
import { html, useState, useEffect, useLayoutEffect, useMemo } from "./html.js";
import { get, bytes } from "./api.js";
import { Files, loadable } from "./diff.js";
import { Copy, Moved } from "./parts.js";
import { Text, raw, count, when } from "./text.js";
import { Timeline, filtered, title } from "./timeline.js";

// Compare shows the files that differ between a and b, ids of rows; set(a, b) chooses others.
export function Compare({ project, data, filter, a, b, news, set, onHistory, setAction, goTo }) {
  const [end, setEnd] = useState(a ? "b" : "a");
  const rows = data.rows;
  const at = useMemo(() => new Map(rows.map((r, i) => [r.id, i])), [rows]);
  const possible = (r) => r.id === "@" || r.id[0] !== "#";
  const shown = useMemo(() => filtered(rows, filter, "all", null).filter((i) => possible(rows[i])), [rows, filter]);
  // Where nothing was chosen: what was saved last, and now.
  const first = rows.find((r) => r.id !== "@" && r.id[0] !== "#");
  a = a || (first && first.id);
  b = b || "@";
  const ids = { a, b };
  const pick = (n) => {
    const id = rows[n].id;
    end === "a" ? set(id, b) : set(a, id);
  };
  const chosen = at.get(ids[end]);
  useLayoutEffect(() => {
    const key = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]") || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "radio") return;
      const step = (by) => {
        const i = shown.indexOf(chosen);
        const n = shown[i < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, i + by))];
        if (n !== undefined) pick(n);
      };
      const act = { ArrowDown: () => step(1), j: () => step(1), ArrowUp: () => step(-1), k: () => step(-1), PageDown: () => step(15), PageUp: () => step(-15), a: () => setEnd("a"), b: () => setEnd("b"), x: () => set(b, a) }[e.key];
      if (!act || (/^(Arrow|Page)/.test(e.key) && (e.target.matches(".right") || e.target.type === "radio"))) return;
      e.preventDefault();
      act();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  // The server compares a checkpoint with another, or with now.
  const [id, other] = a === "@" ? [b, "@"] : [a, b];
  const same = a === b;
  const [got, setGot] = useState(null);
  const key = id + " " + other;
  useEffect(() => {
    if (same || !id) return;
    const stop = new AbortController();
    const answer = (v) => setGot({ key, ...v });
    const ask = (f) => get(`p/${project}/diff`, { id, other, path: raw(f) });
    get(`p/${project}/look`, { id, other }, stop.signal).then((v) => answer({ v: loadable(v, ask, () => setGot((now) => (now.key === key ? { ...now } : now))) }), (error) => error.name !== "AbortError" && answer({ error }));
    return () => stop.abort();
  }, [project, key, same, other === "@" && news]);
  const command = `rewind diff ${id && id.slice(0, 8)}` + (other === "@" ? "" : " " + other.slice(0, 8));
  const busy = !same && (!got || got.key !== key);
  const who = useMemo(() => {
    const of = new Map();
    for (const f of (got && got.v && got.v.files) || []) of.set(f.by || "", (of.get(f.by || "") || 0) + 1);
    return [...of].sort((x, y) => y[1] - x[1]);
  }, [got]);
  const card = (name, label) => {
    const r = rows[at.get(ids[name])];
    return html`<label class=${"end-card" + (end === name ? " on" : "")}><input type="radio" name="end" checked=${end === name} onChange=${() => setEnd(name)} /> <span class="badge">${label}</span>
      <span class="end-text">${r ? html`<${Text} of=${title(r)} most=${100} />` : ids[name] ? "…" : "nothing"}<span class="note">${r && r.id !== "@" ? when(r.ms) : ids[name] === "@" ? "the files as they are" : ""}</span></span></label>`;
  };
  const older = (at.get(a) ?? Infinity) >= (at.get(b) ?? Infinity) ? a : b; // rows are newest first
  return html`<div class="compare">
    <section class="left" aria-label="Which moments">
      <h2 class="hidden">Compare</h2>
      <div class="end-cards" role="radiogroup" aria-label="The end that the list chooses">${card("a", "A")}${card("b", "B")}</div>
      <p class="total">${count(shown.length, "row", "rows")}; choose ${end.toUpperCase()} here <button class="link" onClick=${() => set(b, a)}>swap</button></p>
      <${Timeline} data=${data} shown=${shown} chosen=${chosen} ends=${ids} choose=${pick} open=${(n) => goTo(rows[n].id)} graph=${null} />
    </section>
    <section class="right" aria-label="What differs" aria-busy=${busy} tabindex="0">
      ${same ? html`<p class="note">A and B are the same moment.</p>` : busy && !got ? html`<p class="wait">…</p>` : got.error ? html`<p class="warn" role="alert"><${Text} of=${got.error.message} /></p>` : html`<div class=${busy ? "stale" : ""}>
        <div class="head"><h2><${Text} of=${got.v.title} /></h2>
          <div class="buttons">${!same && html`<${Copy} text=${command} title=${command}>Copy command <code>rewind diff</code><//>`}${setAction && older !== "@" && html`<button class="go" onClick=${() => setAction({ verb: "restore", id: older })}>Restore the older one…</button>`}</div></div>
        ${got.v.head_moved && html`<${Moved} of=${got.v.head_moved} />`}
        <p class="what">${count(got.v.files.length, "file differs", "files differ")}${got.v.more && ", and more"}</p>
        ${who.length > 0 && html`<ul class="who-list">${who.slice(0, 12).map(([by, n]) => html`<li><b>${n}</b> ${by ? html`by <${Text} of=${by} most=${160} />` : "by you, or nobody who is known"}</li>`)}</ul>`}
        <${Files} files=${got.v.files} more=${got.v.more} onHistory=${onHistory} picture=${(f, side) => bytes(`p/${project}/raw`, { id, other, path: raw(f), side })} /></div>`}
    </section></div>`;
}
