// The project as a film: one state after the other, with what changed, idle time left out.
import { html, useState, useEffect, useRef, useMemo } from "./html.js";
import { get } from "./api.js";
import { Files } from "./diff.js";
import { Text, plain, when } from "./text.js";
import { title } from "./timeline.js";

export function Film({ project, rows, goTo }) {
  const [session, setSession] = useState("");
  const sessions = useMemo(() => [...new Set(rows.map((r) => r.session).filter(Boolean))], [rows]);
  const frames = useMemo(() => rows.filter((r) => r.id !== "@" && r.id[0] !== "#" && !r.dim && (!session || r.session === session)).reverse(), [rows, session]);
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(2);
  const [look, setLook] = useState(null);
  const frame = frames[Math.min(at, frames.length - 1)];
  useEffect(() => {
    if (!frame) return;
    const stop = new AbortController();
    get(`p/${project}/look`, { id: frame.id }, stop.signal).then(setLook, () => {});
    return () => stop.abort();
  }, [project, frame && frame.id]);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => setAt((n) => {
      if (n + 1 >= frames.length) setPlaying(false);
      return Math.min(n + 1, frames.length - 1);
    }), 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed, frames.length]);
  useEffect(() => {
    const key = (e) => {
      if (/^(INPUT|SELECT)$/.test(e.target.tagName) && e.target.type !== "range") return;
      if (e.key === " " && e.target.tagName !== "BUTTON") setPlaying((p) => !p);
      else if (e.key === "ArrowRight") setAt((n) => Math.min(n + 1, frames.length - 1));
      else if (e.key === "ArrowLeft") setAt((n) => Math.max(n - 1, 0));
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [frames.length]);
  if (!frames.length) return html`<p class="note">No checkpoints yet.</p>`;
  const churn = frames.map((f) => (f.changes ? f.changes.added + f.changes.modified + f.changes.deleted : 0));
  const most = Math.max(1, ...churn);
  const N = Math.min(frames.length, 300);
  return html`<div class="film">
    <h2><${Text} of=${title(frame)} /></h2>
    <p class="note">${when(frame.time)}, ${Math.min(at, frames.length - 1) + 1} of ${frames.length} <button class="link" onClick=${() => goTo(frame.id)}>show in the timeline</button></p>
    <svg class="chart" viewBox=${`0 0 ${N} 20`} preserveAspectRatio="none" aria-hidden="true">
      ${Array.from({ length: N }, (_, i) => {
        const n = Math.floor((i * frames.length) / N);
        return html`<rect class=${n <= at ? "churn" : "stored"} x=${i} width="0.8" y=${20 - (Math.log1p(churn[n]) / Math.log1p(most)) * 20} height=${(Math.log1p(churn[n]) / Math.log1p(most)) * 20} />`;
      })}
    </svg>
    <div class="controls">
      <button onClick=${() => setPlaying(!playing)} aria-label=${playing ? "Pause" : "Play"}>${playing ? "❚❚" : "▶"}</button>
      <input type="range" min="0" max=${frames.length - 1} value=${at} aria-label="Moment" onInput=${(e) => setAt(+e.target.value)} />
      <label>speed <select value=${speed} onChange=${(e) => setSpeed(+e.target.value)}>${[0.5, 1, 2, 5, 10].map((s) => html`<option value=${s}>${s}/s</option>`)}</select></label>
      <label>session <select value=${session} onChange=${(e) => (setSession(e.target.value), setAt(0))}><option value="">all</option>${sessions.map((s) => html`<option value=${s}>${plain(s).slice(0, 8)}</option>`)}</select></label>
    </div>
    ${look && html`<${Files} files=${look.files} more=${look.more} open=${0} />`}
  </div>`;
}
