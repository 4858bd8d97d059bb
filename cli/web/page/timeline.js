// The timeline: rows in a list of which only the visible ones are drawn, the graph beside them, sizes above.
import { html, useState, useEffect, useRef, useMemo, useLayoutEffect } from "./html.js";
import { get } from "./api.js";
import { calmed, useCalm } from "./calm.js";
import { Text, Changes, age, count, size, when, plain } from "./text.js";

const HIGH = { wide: 28, narrow: 48 }; // px of a row: of one line, of two where the list is narrow
const NARROW = 600; // px of a list, below which rows have two lines
const LANE = 12;
const SPARE = 8; // rows that are drawn above and below those that are seen, while the list rests or moves slowly
const REST = 100; // ms

// filtered gives the places of the rows that a filter lets through: those that have it as it was typed, and those in which
// each of its words begins a word. The picker has the same rule.
export function filtered(rows, filter, kinds, range) {
  const typed = filter.trim().toLowerCase(), each = typed.split(/\s+/);
  const whole = typed ? matcher(typed, false) : null, words = each.length > 1 ? each.map((word) => matcher(word, true)) : [];
  const out = [];
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    if (range && r.id !== "@" && (r.ms < range[0] || r.ms > range[1])) continue;
    if (kinds === "prompts" && !r.prompt && r.id !== "@" && r.kind !== "operation") continue;
    if (kinds === "changes" && r.changes && !some(r.changes) && !r.then && !r.git) continue;
    let fits = !whole || has(whole, r);
    if (!fits && words.length) {
      let k = 0;
      while (k < words.length && has(words[k], r)) k++;
      fits = k === words.length;
    }
    if (fits) out.push(i);
  }
  return out;
}

// grouped puts the rows of a session together, first those of the session that has the newest row.
export function grouped(rows, shown) {
  const of = new Map();
  for (const i of shown) {
    const session = rows[i].session || "", list = of.get(session);
    list ? list.push(i) : of.set(session, [i]);
  }
  return [...of.values()].flat();
}

// headed is the list as it is drawn: the places of rows, and before the first of a session or a day a head, which is less
// than zero: -1 minus its place in heads. at[i] is where the i-th of the shown rows stands.
function headed(rows, shown, order) {
  const list = [], heads = [], at = new Int32Array(shown.length);
  let session = null, begin = Infinity, end = -Infinity; // of the day
  const head = (h) => (heads.push(h), list.push(-heads.length));
  for (let i = 0; i < shown.length; i++) {
    const r = rows[shown[i]], other = order && (r.session || "") !== session;
    if (other) {
      session = r.session || "";
      let n = i + 1;
      while (n < shown.length && (rows[shown[n]].session || "") === session) n++;
      head({ session, first: r, rows: n - i });
    }
    if (r.ms && (r.ms < begin || r.ms >= end)) {
      const day = new Date(r.ms);
      begin = day.setHours(0, 0, 0, 0);
      end = new Date(begin).setDate(new Date(begin).getDate() + 1);
      if (!order) head({ day: begin });
    }
    at[i] = list.push(shown[i]) - 1;
  }
  return heads.length > 1 || order ? { list, heads, at } : { list: shown, heads: [], at: null };
}

// Finder finds a text in others, begins: only where a word of them begins with it.
class Finder {
  constructor(text, begins) {
    const plain = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    this.within = new RegExp(plain, "i");
    this.begin = begins && /^[\p{L}\p{N}]/u.test(text) ? new RegExp("(?<![\\p{L}\\p{N}])" + plain, "iu") : null;
  }
  test(text) {
    return this.within.test(text) && (!this.begin || this.begin.test(text));
  }
}

// matcher is what is asked of each row about a word in small letters. Nothing is kept for it with the rows: there are many.
// It is an object, and no closure: a browser makes fast code of has for all words, and not for one of them.
function matcher(word, begins) {
  const test = new Finder(word, begins);
  const often = () => ({ test, few: new Map(), last: "", is: false });
  return { word, test, why: often(), agent: often(), session: often(), number: /^\d+$/.test(word), id: /^[#@k-z]/.test(word) };
}

// has reports whether the word of a matcher stands in a row.
function has(m, r) {
  return m.test.test(r.text) || (r.git && m.test.test(r.git)) || usually(m.why, r.why) || (r.name && m.test.test(r.name)) || usually(m.agent, r.agent) || usually(m.session, r.session) ||
    (m.number && r.n === m.word) || (m.id && r.id.startsWith(m.word));
}

// usually is has for a text that many rows have, mostly that of the row before: it is looked into once.
function usually(o, text) {
  if (text === o.last) return o.is;
  o.last = text;
  let is = o.few.get(text);
  if (is === undefined) o.few.set(text, (is = !!text && o.test.test(text)));
  return (o.is = is);
}

// warm filters some rows, for nobody, while the browser has nothing else to do: by the first letter that somebody types it
// has made fast code of it.
export function warm(rows) {
  const some = rows.slice(0, 2500);
  let left = some.length < 2500 ? 0 : 8;
  const once = () => {
    if (left-- <= 0) return;
    filtered(some, "no row has this", "all", null);
    requestIdleCallback(once);
  };
  globalThis.requestIdleCallback?.(once);
}

// joined puts the newest rows before those that are known, and gives nothing where that is not all that happened:
// another session, a restore, a mark, or rows that are gone.
export function joined(known, newest) {
  const rows = newest.rows, old = known.rows, graph = known.graph;
  if (!newest.more || newest.version !== known.version || !graph || !rows.length || !old.length || rows[0].id !== "@" || old[0].id !== "@") return null;
  const end = rows[rows.length - 1].id;
  let at = -1;
  for (let i = 1; i < old.length && i <= rows.length; i++) if (old[i].id === end) at = i;
  const more = rows.length - 1 - at; // rows that are new
  if (at < 0 || more < 0) return null;
  for (let i = 1; i <= at; i++) if (old[i].id !== rows[i + more].id) return null;
  const column = new Map();
  for (let i = 0; i < Math.min(old.length, 1000); i++) if (!column.has(old[i].session || "")) column.set(old[i].session || "", (graph.Column || [])[i]);
  const lanes = (graph.Lanes || []).map((l) => ({ ...l, Top: l.Top + more, Bottom: l.Bottom + more, Fork: l.Fork < 0 ? l.Fork : l.Fork + more }));
  const columns = [];
  for (let i = more; i > 0; i--) {
    const c = column.get(rows[i].session || "");
    const lane = c === undefined || rows[i].id[0] === "#" ? null : lanes.filter((l) => l.Column === c).sort((a, b) => a.Top - b.Top)[0];
    if (!lane) return null;
    lane.Top = i;
    columns.unshift(c);
  }
  const by = newest.total - known.total;
  for (let i = at + 1; by && i < old.length; i++) if (old[i].n) old[i].n = String(Number(old[i].n) + by);
  const rest = old.slice(at + 1);
  return { ...newest, more: false, numbered: rest.some((r) => r.kind === "operation"), rows: [...rows, ...rest],
    graph: { ...graph, Column: [graph.Column[0], ...columns, ...graph.Column.slice(1)], Lanes: lanes, Arcs: (graph.Arcs || []).map((a) => ({ ...a, From: a.From + more, To: a.To + more })) } };
}

// rowsOf makes rows of columns, as the server sends many: what is said often is said once, what grows by its steps.
export function rowsOf(c) {
  const rows = new Array(c.count);
  const ids = c.ids.split(" ");
  let ms = 0, n = 0;
  for (let i = 0; i < rows.length; i++) {
    ms += c.times[i];
    const number = c.numbers[i] && (n += c.numbers[i]);
    const flags = c.flags[i];
    rows[i] = {
      id: ids[i], n: number ? String(n) : "", ms, kind: c.kinds[c.kind[i]], why: c.whys[c.why[i]], text: c.texts[c.text[i]], changes: c.changes[c.change[i]], then: c.changes[c.then[i]],
      name: c.names[i] || "", git: (c.git && c.git[i]) || "", agent: c.agents[c.agent[i]], session: c.sessions[c.session[i]], stored: c.stored[i], of: c.of,
      prompt: (flags & 1) > 0, dim: (flags & 2) > 0, call: (flags & 4) > 0, pinned: (flags & 8) > 0, after: (flags & 16) > 0,
    };
  }
  return rows;
}

// updated gives the rows of an answer: those that were sent, and those that are known and the same.
export function updated(known, t) {
  if (t.graph && t.lanes) {
    const column = [];
    for (let i = 0; i < t.lanes.length; i += 2) for (let k = 0; k < t.lanes[i + 1]; k++) column.push(t.lanes[i]);
    t.graph.Column = column;
  }
  const sent = t.columns ? rowsOf(t.columns) : prepare(t.rows);
  t.columns = t.lanes = null;
  t.rows = sent;
  if (!t.runs) return t;
  const rows = [], by = t.total - known.total;
  let next = 0;
  for (const [from, n] of t.runs)
    for (let k = 0; k < n; k++) {
      const old = from < 0 ? null : known.rows[from + k];
      rows.push(!old ? sent[next++] : by && old.n ? { ...old, n: String(Number(old.n) + by) } : old);
    }
  t.rows = rows;
  t.runs = null;
  return t;
}

// prepare reads the times, once for a row.
export function prepare(rows) {
  for (const r of rows) {
    if (r.time === undefined) continue;
    r.ms = Date.parse(r.time);
    r.time = undefined;
  }
  return rows;
}

// front is the text of a row; of a path, the beginning goes first where there is no room.
function front(r) {
  const cut = r.prompt || !r.text || /\s/.test(r.text) ? -1 : r.text.lastIndexOf("/");
  if (cut < 1) return html`<${Text} of=${r.text} most=${300} />`;
  return html`<span class="dirs"><${Text} of=${r.text.slice(0, cut)} most=${300} /></span><span class="base"><${Text} of=${r.text.slice(cut)} most=${300} /></span>`;
}

const GROUP = 28; // px of the head of a group

// tops are the px at which the entries of a list with heads begin, and its end; null where there is no head.
function topsOf(list, heads, high) {
  if (!heads.length) return null;
  const tops = new Int32Array(list.length + 1);
  for (let i = 0; i < list.length; i++) tops[i + 1] = tops[i] + (list[i] < 0 ? GROUP : high);
  return tops;
}

// drawn are the places of the entries that are drawn for a view: those that are seen, and spare ones.
const drawn = (v, tops) => {
  const at = (y) => (tops ? Math.max(0, posOf(tops, y + 1) - 1) : Math.floor(y / v.high));
  return { from: at(v.top) - v.spare, to: at(v.top + v.height - 1) + 1 + v.spare };
};

const highOf = (width) => (width < NARROW ? HIGH.narrow : HIGH.wide);

// namer gives each row the name of its session: the agent, and as much of the session's id as tells it from the others.
function namer(rows) {
  const ids = new Set();
  let last = "";
  for (const r of rows) if (r.session && r.session !== last) ids.add((last = r.session));
  const list = [...ids].sort(), names = new Map();
  const same = (a, b) => {
    let n = 0;
    while (n < a.length && a[n] === b[n]) n++;
    return n;
  };
  list.forEach((id, i) => names.set(id, id.slice(0, 1 + Math.max(3, i ? same(id, list[i - 1]) : 0, i + 1 < list.length ? same(id, list[i + 1]) : 0))));
  return (r) => [r.agent, names.get(r.session)].filter(Boolean).join(" ");
}

// Each session has a hue of its own, in the order of the rows, the same in all places: the golden angle repeats none. One
// that no row has gets its hue when all rows are known, and has no colour before.
const hues = new Map();
let ordered = false; // all rows are known
const placeOf = (session) => (hues.has(session) || !ordered || hues.set(session, hues.size), hues.get(session));

// order gives the sessions of rows their hues; all says that these are all rows.
export function order(rows, all) {
  for (const r of rows) if (r.session && !hues.has(r.session)) hues.set(r.session, hues.size);
  ordered = ordered || all;
}

// hued is the style of what has its session's colour, and coloured its class. Where colours are the system's, dashes differ.
const hued = (session) => (session && placeOf(session) !== undefined ? { "--hue": (250 + placeOf(session) * 137.508) % 360 } : undefined);
const coloured = (cls, session) => cls + (session && placeOf(session) !== undefined ? " hued dashes-" + (placeOf(session) % 4) : "");

// Hue is the dot of a session.
export const Hue = ({ of }) => of && html`<i class=${"hue" + (hued(of) ? " hued" : "")} style=${hued(of)} aria-hidden="true" />`;

// Timeline is the list. ends are the two rows of a comparison: { a, b }. plan(n, verb) is wanted where rows offer it.
export function Timeline({ data, shown, chosen, marked, choose, open, plan, graph, ends, tap, order, labels }) {
  const ref = useRef();
  const [last, setView] = useState(() => ({ top: 0, height: innerWidth > 900 ? innerHeight - 190 : innerHeight * 0.45, high: highOf(innerWidth > 900 ? innerWidth / 3 : innerWidth), spare: 1 }));
  const view = last.of === shown ? last : { ...last, spare: 1 }; // other rows have no spare ones yet
  const begun = useRef(false);
  const rest = useRef(0);
  const kept = useRef(new Map()); // the rows as they were drawn, by their places
  const seen = useRef({ top: 0, height: last.height, high: last.high }); // as the browser last said: asking it makes it lay out
  const now = useRef();
  now.current = shown;
  const nowTops = useRef();
  const { list, heads, at: places } = useMemo(() => headed(data.rows, shown, order), [data.rows, shown, order]);
  const tops = useMemo(() => topsOf(list, heads, view.high), [list, heads, view.high]);
  nowTops.current = tops;
  const topOf = (i) => (tops ? tops[i] : i * view.high);
  const at = list.indexOf(chosen);
  const whose = useMemo(() => namer(data.rows), [data.rows]);
  const calm = useCalm();
  // Spare rows come once the list rests: neither what is drawn first nor what flies by needs them.
  const restSoon = () => {
    clearTimeout(rest.current);
    rest.current = setTimeout(() => calmed.then(() => ref.current && setView({ ...look(ref.current), spare: SPARE })), REST);
  };
  const look = (el) => Object.assign(seen.current, { top: el.scrollTop, height: el.clientHeight, high: highOf(el.clientWidth), of: now.current });
  const see = (el) => {
    const next = { ...look(el), spare: 1 };
    setView((v) => {
      const wanted = drawn({ ...next, spare: 0 }, nowTops.current), there = drawn(v.of === next.of ? v : { ...v, spare: 1 }, nowTops.current);
      if (wanted.from >= there.from && wanted.to <= there.to && next.high === v.high) return v;
      return v.spare > 1 && Math.abs(next.top - v.top) < next.height / 2 ? { ...next, spare: SPARE } : next;
    });
    restSoon();
  };
  useLayoutEffect(restSoon, [shown]);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => ref.current && see(ref.current));
    watch.observe(ref.current);
    return () => (watch.disconnect(), clearTimeout(rest.current));
  }, []);
  useLayoutEffect(() => {
    if (at < 0) return;
    const { high } = view, y = topOf(at), { top, height } = seen.current;
    const first = !begun.current;
    begun.current = true;
    if (first && y + high <= view.height || y >= top && y + high <= top + height) return; // it is seen, whatever the browser will lay out
    ref.current.scrollTop = y < top ? y - (list[at - 1] < 0 ? GROUP : 0) : y + high - height; // with its head
    look(ref.current);
  }, [at, shown, view.high]);
  const { high } = view;
  const from = Math.max(0, drawn(view, tops).from);
  const to = Math.min(list.length, drawn(view, tops).to);
  const rows = [];
  const act = useRef({}).current; // what a row does, of the last time that the list was drawn
  act.choose = (n) => (choose(n, true), ref.current.focus(), tap && tap());
  act.open = open;
  act.plan = plan;
  const width = graph ? (graph.Columns + graph.Tracks + 1) * LANE : 0;
  const lines = useMemo(() => graph && html`<${Graph} graph=${graph} rows=${data.rows} places=${places} tops=${tops} from=${from} to=${to} width=${width} high=${high} />`, [graph, data.rows, places, tops, from, to, width, high]);
  const old = kept.current;
  kept.current = new Map();
  for (let i = from; i < to; i++) {
    const n = list[i], r = data.rows[n];
    if (n < 0) {
      rows.push(html`<div key=${"head-" + i} class="group" role="presentation" aria-hidden="true" style=${{ top: topOf(i) + "px", paddingLeft: width + 12 + "px" }}>${headText(heads[-1 - n], calm, whose, labels)}</div>`);
      continue;
    }
    const is = { r, top: topOf(i), n, pos: places ? posOf(places, i) : i, count: shown.length, number: r.n && (r.of || "") + r.n, old: r.id === "@" ? "" : age(r.ms), chosen: n === chosen, marked: marked === r.id, end: ends ? (ends.a === r.id ? "A" : ends.b === r.id ? "B" : "") : "", whom: whose(r), width, high, calm, plans: !!plan };
    const before = old.get(i);
    const row = before && Object.keys(is).every((k) => is[k] === before.is[k]) ? before : { is, drawn: drawRow(is, act) };
    kept.current.set(i, row);
    rows.push(row.drawn);
  }
  return html`<div class=${"timeline" + (high === HIGH.narrow ? " narrow" : "")} role="listbox" tabindex="0" aria-label="Timeline" aria-activedescendant=${at >= 0 ? "row-" + chosen : undefined} ref=${ref}
    onScroll=${(e) => see(e.target)}>
    <div class="space" style=${{ height: topOf(list.length) + "px" }} role="presentation">
      ${lines}
      ${rows}
    </div>
  </div>`;
}

// posOf finds which of the shown rows stands at a place of the list.
function posOf(places, place) {
  let low = 0, high = places.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (places[mid] < place) low = mid + 1;
    else high = mid;
  }
  return low;
}

// dayOf names a day: today, yesterday, or its date.
function dayOf(ms) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(ms).setHours(0, 0, 0, 0)) / 86400000);
  return days === 0 ? "Today" : days === 1 ? "Yesterday" : new Date(ms).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

// headText says what the rows below it are: a day's, or a session's.
function headText(h, calm, whose, labels) {
  if (h.day) return calm && dayOf(h.day);
  const label = labels && labels.get(h.session);
  return html`<${Hue} of=${h.session} /><b><${Text} of=${h.session ? whose(h.first) : "you, and no session"} most=${60} /></b>${label && html` <span class="label"><${Text} of=${label} most=${120} /></span>`} <span class="facts">${count(h.rows, "row", "rows")}${calm && ", " + dayOf(h.first.ms)}</span>`;
}

const some = (c) => c.added + c.modified + c.deleted > 0;

// Both are a row's changes, and those that came after it, which are told apart.
export function Both({ of }) {
  const then = html`<span class="then" title="after it, before what came next">then</span>`;
  return html`${of.changes && html`${of.after && some(of.changes) && then}<${Changes} of=${of.changes} />`}${of.then && html`${then}<${Changes} of=${of.then} />`}`;
}

const PROMPT = html`<svg class="prompt-icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M3 4l4 4-4 4M8.500 12.500H13" /></svg><span class="hidden">prompt</span>`;

// drawRow draws a row, which is the same as before where is is.
function drawRow({ r, top, n, pos, count, number, old, chosen, marked, end, whom, width, high, calm, plans }, act) {
  const does = (e) => e.target.dataset?.plan;
  return html`<div key=${r.id} id=${"row-" + n} role="option" aria-selected=${chosen} aria-posinset=${pos + 1} aria-setsize=${count}
      class=${"row k-" + r.kind + (chosen ? " chosen" : "") + (marked ? " marked" : "") + (end ? " end" : "") + (r.dim ? " dim" : "")}
      style=${{ top: top + "px", paddingLeft: width + 8 + "px" }} onClick=${(e) => (act.choose(n), does(e) && act.plan(n, does(e)))} onDblClick=${(e) => does(e) || act.open(n)}>
      <span class="n">${number || (r.id === "@" ? "@" : "")}</span>
      <span class="age" title=${calm ? when(r.ms) : undefined}>${old}</span>
      <span class="why">${r.kind === "prompt" && r.why === "prompt" ? PROMPT : html`<${Text} of=${r.why || (r.id === "@" ? "now" : "")} most=${60} />`}</span>
      ${end && html`<span class="badge">${end}</span>`}
      ${r.pinned && html`<span class="pin" title="pinned: gc keeps it">◆<span class="hidden">pinned</span></span>`}
      ${whom && html`<span class="whom" title=${plain(r.session)}><${Hue} of=${r.session} /><${Text} of=${whom} most=${60} /></span>`}
      <span class="text" title=${r.text && r.text.length > 40 ? plain(r.text).slice(0, 300) : undefined}>${front(r)}</span>
      ${r.git && html`<span class="git" title=${plain(r.git).slice(0, 300)}><${Text} of=${r.git} most=${200} /></span>`}
      <${Both} of=${r} />
      ${plans && r.id !== "@" && r.id[0] !== "#" && html`<span class="plans" aria-hidden="true"><span data-plan="restore" title="Restore to this row (r)">Restore…</span>${r.session && html`<span data-plan="revert" title="Revert the row's turn (v)">Revert…</span>`}</span>`}
    </div>`;
}

// Graph draws lanes (sessions and forks) and arcs (restores) of the rows from to.
function Graph({ graph, rows, places, tops, from: begin, to: over, width, high }) {
  const x = (c) => (graph.Tracks + c) * LANE + LANE;
  const topOf = (i) => (tops ? tops[i] : i * high), y = (r) => topOf(places ? places[r] : r) - topOf(begin) + high / 2;
  const from = places ? posOf(places, begin) : begin, to = places ? posOf(places, over - 1) + 1 : over; // of the rows
  const bend = (a, b) => { // into column b, in the row that is y high
    const r = Math.min(6, Math.abs(b[0] - a) / 2), by = b[0] > a ? r : -r;
    return `V${b[1] - r}Q${a} ${b[1]} ${a + by} ${b[1]}H${b[0]}`;
  };
  const parts = [];
  for (const l of graph.Lanes || []) {
    const bottom = l.Fork >= 0 ? l.Fork : l.Bottom;
    if (l.Top >= to || bottom < from) continue;
    const own = rows[l.Top].session, end = l.Fork > l.Bottom ? x(graph.Column[l.Fork]) : x(l.Column);
    parts.push(html`<path class=${coloured("lane", own)} style=${hued(own)} d=${`M${x(l.Column)} ${y(l.Top)}` + (end !== x(l.Column) ? bend(x(l.Column), [end, y(l.Fork)]) : `V${y(Math.max(l.Bottom, l.Fork))}`)} />`);
  }
  for (const a of graph.Arcs || []) {
    const [top, bottom] = a.From < a.To ? [a.From, a.To] : [a.To, a.From];
    if (top >= to || bottom < from) continue;
    const left = (graph.Tracks - a.Track) * LANE - LANE / 2;
    parts.push(html`<path class=${"arc" + (a.Undone ? " undone" : "")} d=${`M${x(graph.Column[a.From])} ${y(a.From)}H${left + 6}q-6 0 -6 6` + bend(left, [x(graph.Column[a.To]) - 6, y(a.To)]) + "m-4 -3l4 3l-4 3"} />`);
  }
  for (let r = from; r < to; r++) {
    if (graph.Column[r] >= 0) parts.push(html`<circle class=${coloured("dot", rows[r].session)} style=${hued(rows[r].session)} cx=${x(graph.Column[r])} cy=${y(r)} r="3.5" />`);
  }
  return html`<svg class="graph" aria-hidden="true" width=${width} height=${topOf(over) - topOf(begin)} style=${{ top: topOf(begin) + "px" }}>${parts}</svg>`;
}

// Legend says what the lines, dots and marks mean, with the sessions that have rows.
export function Legend({ project, data }) {
  const [open, setOpen] = useState(false);
  const [sessions, setSessions] = useState([]);
  useEffect(() => {
    if (open && !data.sessions) get(`p/${project}/sessions`).then((v) => setSessions(v.sessions), () => {}); // their ids still tell them apart
  }, [project, open, data.version]);
  const lanes = useMemo(() => {
    if (!open) return [];
    const names = new Map((data.sessions || sessions).map((s) => [s.id, s.label || s.id]));
    const of = new Map();
    const column = data.graph.Column || [];
    for (let i = 0; i < data.rows.length && of.size < 12; i++) {
      const id = data.rows[i].session;
      if (id && column[i] >= 0 && !of.has(id)) of.set(id, { label: names.get(id) || id, agent: data.rows[i].agent });
    }
    return [...of];
  }, [data, open, sessions]);
  const line = (cls, id) => html`<svg width="22" height="10" aria-hidden="true" style=${hued(id)}><path class=${coloured(cls, id)} d="M1 5H21" />${id && html`<circle class="dot hued" cx="11" cy="5" r="3.5" />`}</svg>`;
  return html`<details class="legend" onToggle=${(e) => setOpen(e.target.open)}><summary>Legend</summary>${open && html`<dl>
    ${lanes.map(([id, l]) => html`<dt>${line("lane", id)}</dt><dd><${Text} of=${[l.agent, l.label].filter(Boolean).join(": ")} most=${80} /></dd>`)}
    <dt>${line("arc")}</dt><dd>a restore or undo, from the row that it left to the row that it went to</dd>
    <dt>${line("arc undone")}</dt><dd>one that was undone</dd>
    <dt><span class="plus">+</span> <span class="tilde">~</span> <span class="minus">−</span></dt><dd>files added, changed, deleted</dd>
    <dt><span class="pin">◆</span> [name]</dt><dd>pinned, named: gc keeps it</dd>
    <dt><span class="key stored-key"></span></dt><dd>above the line of the chart: bytes that were stored</dd>
    <dt><span class="key churn-key"></span></dt><dd>below it: paths that changed; time without rows is left out</dd>
  </dl>`}</details>`;
}

const IDLE = 60000; // ms: a longer time without rows takes no more of the axis, nor one of
const USUAL = 10; // times the median
const GAP = 30 * 60000; // ms without rows that get a mark
const MARKS = 40; // at most: more would tell nothing, and take long to draw

// timeAxis places times beside each other, without the time in which nothing happened. at(ms) is the place of a time,
// from 0 to length; time(place) is the way back.
export function timeAxis(list) {
  const times = Float64Array.from(list).sort();
  const places = new Float64Array(times.length);
  const gaps = [];
  const steps = times.slice(1).map((t, i) => t - times[i]).filter((d) => d > 0).sort();
  const most = Math.min(IDLE, USUAL * (steps[steps.length >> 1] || 0));
  for (let i = 1; i < times.length; i++) {
    const gap = times[i] - times[i - 1];
    places[i] = places[i - 1] + Math.min(gap, most);
    if (gap > GAP && gap > most) gaps.push(places[i] - most / 2);
  }
  const end = times.length - 1;
  return { at: (ms) => between(times, places, ms), time: (place) => between(places, times, place), first: times[0], last: times[end], length: places[end] || 1, gaps: gaps.length > MARKS ? [] : gaps };
}

// between is what v is among to where it is among from, both ascending.
function between(from, to, v) {
  let low = -1, high = from.length - 1; // from[low] <= v
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (from[mid] <= v) low = mid;
    else high = mid - 1;
  }
  if (low < 0) return to[0];
  if (low === from.length - 1) return to[low];
  return to[low] + ((v - from[low]) / (from[low + 1] - from[low])) * (to[low + 1] - to[low]);
}

// bars are sizes over time, each from 0 to 1, what they are of, and the axis that they stand on; null for fewer than two rows.
export function bars(rows, N) {
  const known = rows.filter((r) => r.ms && r.id !== "@");
  if (known.length < 2) return null;
  const axis = timeAxis(known.map((r) => r.ms));
  const stored = new Array(N).fill(0), churn = new Array(N).fill(0);
  const turns = new Map(); // of sessions: whether the row of the running turn has the paths of its calls
  for (let at = known.length - 1; at >= 0; at--) {
    const r = known[at], i = Math.min(N - 1, Math.floor((axis.at(r.ms) / axis.length) * N));
    stored[i] += r.stored || 0;
    if (r.kind === "prompt") turns.set(r.session, !!r.changes);
    if (r.changes && !(r.kind === "tool" && turns.get(r.session))) churn[i] += r.changes.added + r.changes.modified + r.changes.deleted;
  }
  const scale = (list) => {
    const most = Math.log1p(Math.max(...list));
    return list.map((v) => (most ? Math.log1p(v) / most : 0));
  };
  return { stored: scale(stored), churn: scale(churn), of: { stored, churn }, axis };
}

const BARS = 120;
const W = 1000, H = 36; // of the chart's own units
const TICKS = 5; // times below it
const SHORT = 10 * 60000; // ms: times of less in all have seconds

// ticks are times at equal steps of the axis, without the day where that is the one before it, and none where it is the time
// before it: with seconds where minutes are too few.
export function ticks(axis) {
  const at = Array.from({ length: TICKS }, (_, i) => new Date(axis.time((i / (TICKS - 1)) * axis.length)));
  const minutes = new Set(at.map((t) => Math.floor(t / 60000)));
  const second = axis.last - axis.first < SHORT || minutes.size < TICKS ? "2-digit" : undefined;
  let day = "", last = "";
  return at.map((t) => {
    const on = t.toLocaleDateString([], { day: "numeric", month: "short" }), clock = t.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second });
    if (on + clock === last) return "";
    last = on + clock;
    return on === day ? clock : (day = on) + ", " + clock;
  });
}

// Chart shows bytes stored and paths changed over time; a drag over it, or its keys, select a time.
export function Chart({ rows, range, setRange }) {
  const ref = useRef();
  const drag = useRef(null);
  const [at, setAt] = useState(-1); // the bar that the pointer is at
  const calm = useCalm();
  const all = useMemo(() => (calm ? bars(rows, BARS) : null), [rows, calm]);
  const drawn = useMemo(() => {
    if (!all) return null;
    const width = W / BARS - 1;
    const path = (list, draw) => list.map((v, i) => (v ? draw((i * W) / BARS, Math.round(v * 50 * H) / 100) : "")).join("");
    return [html`<path class="stored" d=${path(all.stored, (x, h) => `M${x} ${H / 2}v${-h}h${width}v${h}z`)} />`, html`<path class="churn" d=${path(all.churn, (x, h) => `M${x} ${H / 2}v${h}h${width}v${-h}z`)} />`,
      html`<path class="gap" d=${all.axis.gaps.map((g) => `M${((g / all.axis.length) * W).toFixed(1)} 0v${H}`).join("")} />`];
  }, [all]);
  if (!all && (calm || rows.length < 3)) return null;
  if (!all) return html`<div class="brushed" aria-hidden="true"><div class="chart" /><span class="ends"><span>…</span></span></div>`; // its place
  const { axis } = all;
  const px = (t) => (axis.at(t) / axis.length) * W;
  const place = (e) => {
    const box = ref.current.getBoundingClientRect();
    return (e.clientX - box.left) / box.width;
  };
  const time = (e) => axis.time(Math.max(0, Math.min(1, place(e))) * axis.length);
  // The keys move a window of a tenth; with shift its end.
  const key = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const end = axis.length;
    const by = { ArrowLeft: -end / 40, ArrowRight: end / 40, PageUp: -end / 10, PageDown: end / 10 }[e.key];
    const now = range && range.map(axis.at);
    let next = null;
    if (e.key === "Escape" && range) next = [];
    else if (e.key === "Home") next = [0, end / 10];
    else if (e.key === "End") next = [end - end / 10, end];
    else if (!by) return;
    else if (!range) next = by < 0 ? [end - end / 10, end] : [0, end / 10];
    else if (e.shiftKey) next = [now[0], Math.max(now[0] + end / 200, Math.min(end, now[1] + by))];
    else {
      const move = Math.max(-now[0], Math.min(end - now[1], by));
      next = [now[0] + move, now[1] + move];
    }
    e.preventDefault();
    e.stopPropagation();
    setRange(next.length ? next.map(axis.time) : null);
  };
  const text = range ? `${when(range[0])} to ${when(range[1])}` : "all times";
  return html`<section aria-label="Time"><div class="brushed" role="slider" tabindex="0" aria-label="Time shown, without that in which nothing happened; arrows move it, with shift its end, escape shows all" aria-valuemin="0" aria-valuemax="100"
      aria-valuenow=${range ? Math.round((px(range[0]) / W) * 100) : 0} aria-valuetext=${text} onKeyDown=${key}>
    <svg class="chart" ref=${ref} viewBox=${`0 0 ${W} ${H}`} preserveAspectRatio="none" aria-hidden="true"
    onPointerDown=${(e) => ((drag.current = time(e)), ref.current.setPointerCapture(e.pointerId))}
    onPointerLeave=${() => setAt(-1)}
    onPointerMove=${(e) => {
      setAt(Math.floor(Math.max(0, Math.min(0.999, place(e))) * BARS));
      if (drag.current !== null) setRange([drag.current, time(e)].sort((a, b) => a - b));
    }}
    onPointerUp=${(e) => {
      const t = time(e);
      if (Math.abs(px(t) - px(drag.current)) < 4) setRange(null);
      drag.current = null;
    }}>
    ${drawn}
    ${range && html`<rect class="brush" x=${px(range[0])} width=${Math.max(2, px(range[1]) - px(range[0]))} y="0" height=${H} />`}
  </svg>
  <span class="most" aria-hidden="true"><span>up to ${size(Math.max(...all.of.stored))} stored</span><span>up to ${count(Math.max(...all.of.churn), "path", "paths")} changed</span></span>
  ${at >= 0 && html`<span class="tip" style=${{ left: ((at + 0.5) / BARS) * 100 + "%" }} aria-hidden="true"><b>${when(axis.time((at / BARS) * axis.length))}</b><span><i class="key stored-key" />${size(all.of.stored[at])} stored</span><span><i class="key churn-key" />${count(all.of.churn[at], "path", "paths")} changed</span></span>`}
  <span class="ends" aria-hidden="true">${ticks(axis).map((text) => html`<span>${text}</span>`)}</span></div></section>`;
}

export const title = (r) => (r.n ? (r.of || "") + r.n + " " : "") + plain(r.why || (r.id === "@" ? "now" : "")) + (r.text ? ": " + cut(plain(r.text), 80) : "");

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);
