// The project as a film: one state after the other, with what changed. Moments at which nothing did are left out,
// so that idle time takes none.
import { html, useState, useEffect, useRef, useMemo, useLayoutEffect } from "./html.js";
import { get } from "./api.js";
import { Files, loadable } from "./diff.js";
import { Text, plain, raw, when } from "./text.js";
import { title } from "./timeline.js";

const changed = (r) => (r.changes ? r.changes.added + r.changes.modified + r.changes.deleted : 0);
const BARS = 240;
const AHEAD = 3; // frames that are read before they are shown
const KEPT = 60; // frames that are remembered

export function Film({ project, rows, goTo }) {
  const [session, setSession] = useState("");
  const [idle, setIdle] = useState(false);
  const sessions = useMemo(() => [...new Set(rows.map((r) => r.session).filter(Boolean))], [rows]);
  const frames = useMemo(() => rows.filter((r) => r.id !== "@" && r.id[0] !== "#" && !r.dim && (!session || r.session === session) && (idle || !r.changes || changed(r))).reverse(), [rows, session, idle]);
  const [id, setID] = useState(null); // of the frame; it stays when others come
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(2);
  const [look, setLook] = useState(null);
  const cache = useRef(new Map());
  const found = id === null ? 0 : frames.findIndex((f) => f.id === id);
  const at = Math.max(0, found);
  const frame = frames[at];
  const go = (n) => frames.length && setID(frames[Math.max(0, Math.min(n, frames.length - 1))].id);
  const ask = (f) => {
    const kept = cache.current;
    if (!kept.has(f.id)) {
      const lines = (one) => get(`p/${project}/diff`, { id: f.id, path: raw(one) });
      const drawn = () => setLook((now) => (now && now.id === f.id ? { ...now } : now));
      kept.set(f.id, get(`p/${project}/look`, { id: f.id }).then((v) => loadable(v, lines, drawn), (error) => ({ error, files: [] })));
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    }
    return kept.get(f.id);
  };
  useEffect(() => {
    if (!frame) return;
    let live = true;
    ask(frame).then((v) => {
      if (!live) return;
      setLook({ id: frame.id, v });
      if (v.error) cache.current.delete(frame.id);
      for (let i = 1; i <= AHEAD && frames[at + i]; i++) ask(frames[at + i]);
    });
    return () => (live = false);
  }, [project, frame && frame.id]);
  const shown = look && frame && look.id === frame.id;
  useEffect(() => { // the next frame comes when this one was seen
    if (!playing || !shown) return;
    if (at + 1 >= frames.length) return void setPlaying(false);
    const timer = setTimeout(() => go(at + 1), 1000 / speed);
    return () => clearTimeout(timer);
  }, [playing, speed, shown, at, frames]);
  const play = () => {
    if (!playing && at + 1 >= frames.length) go(0); // again from the beginning
    setPlaying(!playing);
  };
  useLayoutEffect(() => {
    const key = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]") || (/^(INPUT|SELECT)$/.test(e.target.tagName) && e.target.type !== "range")) return;
      if (e.key === " " && e.target.closest("button, summary")) return; // a link does nothing by it
      const act = { " ": play, ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(frames.length - 1) }[e.key];
      if (!act) return;
      act();
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  const N = Math.min(frames.length, BARS);
  const drawn = useMemo(() => {
    const churn = new Array(N).fill(0);
    frames.forEach((f, i) => (churn[Math.floor((i * N) / frames.length)] += changed(f)));
    const most = Math.log1p(Math.max(1, ...churn));
    return churn.map((c, i) => html`<rect x=${i} width="0.8" y=${20 - (Math.log1p(c) / most) * 20} height=${Math.max(0.6, (Math.log1p(c) / most) * 20)} />`);
  }, [frames]);
  if (!frames.length) return html`<h2>Film</h2><p class="note">${rows.length ? "Nothing changed in any checkpoint here." : "No checkpoints yet."}</p>`;
  const gap = at > 0 ? frame.ms - frames[at - 1].ms : 0;
  const seek = (e) => {
    const box = e.currentTarget.getBoundingClientRect();
    go(Math.floor(Math.max(0, Math.min(0.9999, (e.clientX - box.left) / box.width)) * frames.length));
  };
  const done = ((at + 1) / frames.length) * N;
  return html`<div class="film">
    <h2><${Text} of=${title(frame)} /></h2>
    <p class="note">${when(frame.ms)}${gap > 60000 && html`, ${long(gap)} later`} · ${(at + 1).toLocaleString()} of ${frames.length.toLocaleString()} · <button class="link" onClick=${() => goTo(frame.id)}>show in the timeline</button></p>
    <div class="scrub">
      <svg class="chart" viewBox=${`0 0 ${N} 20`} preserveAspectRatio="none" aria-hidden="true" onPointerDown=${(e) => (e.currentTarget.setPointerCapture(e.pointerId), seek(e))} onPointerMove=${(e) => e.buttons && seek(e)}>
        <clipPath id="seen"><rect x="0" y="0" width=${done} height="20" /></clipPath>
        <g class="stored">${drawn}</g><g class="churn" clip-path="url(#seen)">${drawn}</g>
      </svg>
      <input type="range" min="0" max=${frames.length - 1} value=${at} aria-label="Moment" aria-valuetext=${plain(title(frame))} onInput=${(e) => go(+e.target.value)} />
    </div>
    <div class="controls">
      <button onClick=${() => go(at - 1)} disabled=${at === 0} aria-label="One back">◀</button>
      <button class="go" onClick=${play} aria-label=${playing ? "Pause" : "Play"}>${playing ? "❚❚" : "▶"}</button>
      <button onClick=${() => go(at + 1)} disabled=${at + 1 >= frames.length} aria-label="One on">▶|</button>
      <label>speed <select value=${speed} onChange=${(e) => setSpeed(+e.target.value)}>${[0.5, 1, 2, 5, 10].map((s) => html`<option value=${s}>${s}/s</option>`)}</select></label>
      <label>session <select value=${session} onChange=${(e) => (setSession(e.target.value), setID(null))}><option value="">all</option>${sessions.map((s) => html`<option value=${s}>${plain(s).slice(0, 8)}</option>`)}</select></label>
      <label><input type="checkbox" checked=${idle} onChange=${(e) => setIdle(e.target.checked)} /> moments without changes</label>
    </div>
    <div class="screen" aria-busy=${!shown}>${!look ? html`<p class="wait">…</p>` : look.v.error ? html`<p class="warn" role="alert"><${Text} of=${look.v.error.message} /></p>` : html`<${Files} key=${look.id} files=${look.v.files} more=${look.v.more} />`}</div>
  </div>`;
}

function long(ms) {
  const m = Math.round(ms / 60000);
  return m < 120 ? `${m} min` : m < 2880 ? `${Math.round(m / 60)} h` : `${Math.round(m / 1440)} days`;
}
