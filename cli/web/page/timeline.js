// The timeline: rows in a list of which only the visible ones are drawn, the graph beside them, sizes above.
import { html, useState, useEffect, useRef, useMemo, useLayoutEffect } from "./html.js";
import { Text, Changes, age, plain } from "./text.js";

const ROW = 28; // px
const LANE = 12;

// filtered gives the places of the rows that a filter lets through.
export function filtered(rows, filter, kinds, range) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const out = [];
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    if (range && r.id !== "@" && (r.ms < range[0] || r.ms > range[1])) continue;
    if (kinds === "prompts" && !r.prompt && r.id !== "@" && r.kind !== "operation") continue;
    if (kinds === "changes" && r.changes && !r.changes.added && !r.changes.modified && !r.changes.deleted) continue;
    if (words.length && !words.every((w) => r.find.includes(w))) continue;
    out.push(i);
  }
  return out;
}

// prepare adds what filtering needs; done once for a row.
export function prepare(rows) {
  for (const r of rows) {
    r.ms = Date.parse(r.time);
    r.find = [r.n, r.why, r.text, r.name, r.agent, r.session, r.id].join(" ").toLowerCase();
  }
  return rows;
}

export function Timeline({ data, shown, chosen, marked, choose, open, graph }) {
  const ref = useRef();
  const [view, setView] = useState({ top: 0, height: 600 });
  const at = shown.indexOf(chosen);
  useLayoutEffect(() => {
    const el = ref.current;
    const measure = () => setView({ top: el.scrollTop, height: el.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const el = ref.current;
    if (at < 0) return;
    const y = at * ROW;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + ROW > el.scrollTop + el.clientHeight) el.scrollTop = y + ROW - el.clientHeight;
  }, [at, shown]);
  const from = Math.max(0, Math.floor(view.top / ROW) - 8);
  const to = Math.min(shown.length, Math.ceil((view.top + view.height) / ROW) + 8);
  const rows = [];
  const width = graph ? (graph.Columns + graph.Tracks + 1) * LANE : 0;
  for (let i = from; i < to; i++) {
    const n = shown[i];
    const r = data.rows[n];
    rows.push(html`<div key=${r.id} id=${"row-" + n} role="option" aria-selected=${n === chosen} aria-posinset=${i + 1} aria-setsize=${shown.length}
      class=${"row k-" + r.kind + (n === chosen ? " chosen" : "") + (marked === r.id ? " marked" : "") + (r.dim ? " dim" : "")}
      style=${{ top: i * ROW + "px", paddingLeft: width + 8 + "px" }} onClick=${() => (choose(n), ref.current.focus())} onDblClick=${() => open(n)}>
      <span class="n">${r.n || (r.id === "@" ? "@" : "")}</span>
      <span class="age" title=${new Date(r.time).toLocaleString()}>${r.id === "@" ? "" : age(r.time)}</span>
      <span class="why"><${Text} of=${r.why || (r.id === "@" ? "now" : "")} most=${60} /></span>
      <span class="text"><${Text} of=${r.text} most=${300} />${r.pinned && html` <span class="pin" title="pinned">◆</span>`}</span>
      <${Changes} of=${r.changes} />
    </div>`);
  }
  return html`<div class="timeline" role="listbox" tabindex="0" aria-label="Timeline" aria-activedescendant=${at >= 0 ? "row-" + chosen : undefined} ref=${ref}
    onScroll=${(e) => setView({ top: e.target.scrollTop, height: e.target.clientHeight })}>
    <div class="space" style=${{ height: shown.length * ROW + "px" }} role="presentation">
      ${graph && html`<${Graph} graph=${graph} from=${from} to=${to} width=${width} />`}
      ${rows}
    </div>
  </div>`;
}

// Graph draws lanes (sessions and forks) and arcs (restores) of the rows from to.
function Graph({ graph, from, to, width }) {
  const x = (c) => (graph.Tracks + c) * LANE + LANE;
  const y = (r) => (r - from) * ROW + ROW / 2;
  const parts = [];
  for (const l of graph.Lanes || []) {
    const bottom = l.Fork >= 0 ? l.Fork : l.Bottom;
    if (l.Top >= to || bottom < from) continue;
    parts.push(html`<path class=${"lane lane-" + (l.Column % 6)} d=${`M${x(l.Column)} ${y(l.Top)}V${y(l.Bottom)}` +
      (l.Fork > l.Bottom ? `L${x(graph.Column[l.Fork])} ${y(l.Fork)}` : "")} />`);
  }
  for (const a of graph.Arcs || []) {
    const [top, bottom] = a.From < a.To ? [a.From, a.To] : [a.To, a.From];
    if (top >= to || bottom < from) continue;
    const left = (graph.Tracks - a.Track) * LANE - LANE / 2;
    parts.push(html`<path class=${"arc" + (a.Undone ? " undone" : "")} d=${`M${x(graph.Column[a.From])} ${y(a.From)}H${left}V${y(a.To)}H${x(graph.Column[a.To]) - 5}`} />`);
  }
  for (let r = from; r < to; r++) {
    if (graph.Column[r] >= 0) parts.push(html`<circle class=${"dot lane-" + (graph.Column[r] % 6)} cx=${x(graph.Column[r])} cy=${y(r)} r="3.5" />`);
  }
  return html`<svg class="graph" aria-hidden="true" width=${width} height=${(to - from) * ROW} style=${{ top: from * ROW + "px" }}>${parts}</svg>`;
}

// Chart shows bytes stored and paths changed over time; a drag over it selects a time.
export function Chart({ rows, range, setRange }) {
  const ref = useRef();
  const drag = useRef(null);
  const W = 1000, H = 36;
  const { bars, first, last } = useMemo(() => {
    const known = rows.filter((r) => r.ms && r.id !== "@");
    if (known.length < 2) return { bars: [], first: 0, last: 0 };
    let first = Infinity, last = -Infinity;
    for (const r of known) {
      first = Math.min(first, r.ms);
      last = Math.max(last, r.ms);
    }
    const N = 120, stored = new Array(N).fill(0), churn = new Array(N).fill(0);
    for (const r of known) {
      const i = Math.min(N - 1, Math.floor(((r.ms - first) / (last - first || 1)) * N));
      stored[i] += r.stored || 0;
      if (r.changes) churn[i] += r.changes.added + r.changes.modified + r.changes.deleted;
    }
    const scale = (list) => {
      const most = Math.log1p(Math.max(...list));
      return list.map((v) => (most ? Math.log1p(v) / most : 0));
    };
    const a = scale(stored), b = scale(churn);
    return { bars: a.map((v, i) => [v, b[i]]), first, last };
  }, [rows]);
  if (!bars.length) return null;
  const time = (e) => {
    const box = ref.current.getBoundingClientRect();
    return first + Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * (last - first);
  };
  const px = (t) => ((t - first) / (last - first || 1)) * W;
  return html`<svg class="chart" ref=${ref} viewBox=${`0 0 ${W} ${H}`} preserveAspectRatio="none" role="img"
    aria-label="Bytes stored and paths changed over time. Drag to select a time."
    onPointerDown=${(e) => ((drag.current = time(e)), ref.current.setPointerCapture(e.pointerId))}
    onPointerMove=${(e) => drag.current !== null && setRange([drag.current, time(e)].sort((a, b) => a - b))}
    onPointerUp=${(e) => {
      const t = time(e);
      if (Math.abs(px(t) - px(drag.current)) < 4) setRange(null);
      drag.current = null;
    }}>
    ${bars.map(([s, c], i) => html`<rect class="stored" x=${(i * W) / bars.length} width=${W / bars.length - 1} y=${H / 2 - (s * H) / 2} height=${(s * H) / 2} />
      <rect class="churn" x=${(i * W) / bars.length} width=${W / bars.length - 1} y=${H / 2} height=${(c * H) / 2} />`)}
    ${range && html`<rect class="brush" x=${px(range[0])} width=${Math.max(2, px(range[1]) - px(range[0]))} y="0" height=${H} />`}
  </svg>`;
}

export const title = (r) => (r.n ? r.n + " " : "") + plain(r.why || (r.id === "@" ? "now" : "")) + (r.text ? ": " + plain(r.text).slice(0, 80) : "");
