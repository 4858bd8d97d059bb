// The page: which project and place is looked at, and the keys.
import { html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback } from "./html.js";
import { FIRST, ALL, SILENT, prepared, ahead, aheadOfAll, get, post, bytes, keep, logIn, stream, shared } from "./api.js";
import { Timeline, Chart, Legend, Both, Hue, filtered, grouped, joined, order as orderSessions, warm, prepare, updated, title } from "./timeline.js";
import { Files, loadable } from "./diff.js";
import { Talk } from "./talk.js";
import { Compare, Film, Hunt, Plan, NameDialog, FilePage, FilePlace, Operations, Health, Search, Keys, Space, Attempts } from "./later.js";
import { calm, calmed, useCalm } from "./calm.js";
import { Copy, More, Moved, Split, restored } from "./parts.js";
import { Text, Count, count, number, plain, raw, size, when } from "./text.js";

// Where they are bundled, rest.js finds in this script what both need.
export * from "./html.js";
export * from "./api.js";
export * from "./text.js";
export * from "./diff.js";
export * from "./colour.js";
export * from "./parts.js";
export * from "./timeline.js";

const OLD = 60000; // ms since the files were looked at, from which on it is said
const LOST = 4000; // ms without an answer, from which on it is said
const LATER = 10000; // ms until all rows are read again, where what happened shows in few of them

// Shell holds which project is looked at: another one begins anew.
function Shell({ first, readOnly, exported }) {
  const [projects, setProjects] = useState(first);
  const [project, setProject] = useState(() => projectOf(location) || first[0].id);
  useEffect(() => {
    const back = () => setProject(projectOf(location) || first[0].id);
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const choose = (id) => {
    history.pushState(null, "", address(id, { page: "" }));
    setProject(id);
  };
  const renew = () => get("projects").then((v) => setProjects(v.projects), () => {}); // the old list still tells something
  useEffect(() => { // there may be others by now
    if (shared) return;
    addEventListener("focus", renew);
    return () => removeEventListener("focus", renew);
  }, []);
  return html`<${App} key=${project} project=${project} projects=${projects} chooseProject=${choose} renew=${renew} readOnly=${readOnly} exported=${exported} />`;
}

// Projects is the choice of another project, and the name of this one.
function Projects({ project, projects, choose, renew }) {
  const known = projects.some((p) => p.id === project);
  const label = (p) => plain(p.name) + (projects.some((q) => q !== p && q.name === p.name) ? " (" + plain(p.root) + ")" : "");
  return html`<select aria-label="Project" title=${plain(projects.find((p) => p.id === project)?.root || "")} value=${project} onPointerEnter=${renew} onFocus=${renew} onChange=${(e) => choose(e.target.value)}>
    ${!known && html`<option value=${project}>?</option>`}${projects.map((p) => html`<option key=${p.id} value=${p.id}>${label(p)}</option>`)}</select>`;
}

// newest is the row that the page opens at: now where something is new in it, else the newest that shows something.
function newest(rows) {
  const changes = (r) => r.then || (r.changes && r.changes.added + r.changes.modified + r.changes.deleted > 0);
  const at = rows.findIndex((r) => (r.id === "@" ? changes(r) : !r.dim && (r.prompt || changes(r))));
  return at >= 0 ? at : Math.min(rows.length, 2) - 1;
}

// seen waits until somebody can see this tab.
const seen = async () => {
  while (document.hidden) await new Promise((r) => document.addEventListener("visibilitychange", r, { once: true }));
};

// showTab brings the link of this place into view, where a narrow page scrolls them.
function showTab() {
  const link = innerWidth <= 600 && document.querySelector("nav [aria-current]");
  if (!link) return;
  const nav = link.parentElement.getBoundingClientRect(), at = link.getBoundingClientRect();
  link.parentElement.scrollLeft += (at.left + at.right - nav.left - nav.right) / 2;
}

function App({ project, projects, chooseProject, renew, readOnly, exported }) {
  const [place, setPlace] = useState(() => placeOf(location));
  const [data, setData] = useState(() => prepared(`p/${project}/timeline`, { limit: FIRST }) || null);
  const first = useRef(data); // what the server gave with the login
  const [error, setError] = useState(null);
  const [folded, setFolded] = useState(false); // rows that tell nothing are shown too
  const [live, setLive] = useState(false);
  const [lost, setLost] = useState(false); // not live, for longer than a busy machine takes
  useEffect(() => {
    setLost(false);
    if (live) return;
    const late = setTimeout(() => setLost(true), LOST);
    return () => clearTimeout(late);
  }, [live]);
  const [looked, setLooked] = useState(0); // when the files were last looked at
  const [filter, setFilter] = useState(place.filter);
  const [kinds, setKinds] = useState(place.kinds);
  const [order, setOrder] = useState(place.order); // of the rows: "" by time, "session": those of a session together
  const [labels, setLabels] = useState(null); // of sessions, by their ids
  const [range, setRange] = useState(null);
  // A row of the address is looked for until all rows are known, those that add nothing too.
  const [chosen, setChosen] = useState(() => (!data ? 0 : place.row ? prepare(data.rows).findIndex((r) => r.id === place.row) : newest(prepare(data.rows))));
  const [marked, setMarked] = useState(null);
  const [against, setAgainst] = useState(place.with); // "@": the row is compared with the files as they are now
  const besides = useRef();
  besides.current = { with: against, filter, kinds, order };
  const [action, setAction] = useState(null);
  const [naming, setNaming] = useState(null); // the row that gets a name
  const [said, setSaid] = useState("");
  const [hit, setHit] = useState(() => hitOf(place)); // the line of a row that is shown: { id, path, line, text }
  const [hunt, setHunt] = useState(null); // who looks for what broke it
  const [back, setBack] = useState(""); // what undoes what was said: undo or redo
  const [resume, setResume] = useState(""); // the command that opens the conversation that came with it
  const [making, setMaking] = useState(null); // bytes of the session's page that is made
  const tell = (text, way, command) => (setSaid(text), setBack(way || ""), setResume(command || ""));
  useEffect(() => tell(""), [place]);
  const search = useRef();
  const chosenID = useRef(place.row || "@");
  const picked = useRef(!!place.row); // by the person
  const wanted = useRef(place.row); // the row of an address, until it is found
  const missing = useRef(""); // the row of an address that is not there: none is chosen in its place
  const noted = useRef(0);
  const leaves = useRef(); // the rows that the filter leaves
  const news = useRef(0);
  const list = useRef(null); // the rows that are known
  const opened = useRef(null); // kept once a row's files are there
  if (!opened.current) {
    opened.current = {};
    opened.current.promise = new Promise((r) => (opened.current.done = r));
  }
  const go = useCallback((to, instead) => {
    clearTimeout(noted.current);
    if (!to.page) to = { page: "", row: picked.current ? chosenID.current : "", ...besides.current };
    else setHit(null); // a search leads to its line once: who comes back from another place begins in the list
    history[instead ? "replaceState" : "pushState"](null, "", address(project, to));
    setPlace(to);
  }, [project]);
  // The address names the row that the person chose: at once for a click, which Back takes back; once keys come to rest.
  const note = (id, click) => {
    clearTimeout(noted.current);
    const write = () => history[click ? "pushState" : "replaceState"](null, "", address(project, { page: "", row: id, ...besides.current }));
    if (click) write();
    else noted.current = setTimeout(write, 200);
  };
  const find = (id) => {
    const rows = list.current ? list.current.rows : [], at = rows.findIndex((r) => r.id === id);
    picked.current = true;
    chosenID.current = id;
    wanted.current = at < 0 ? id : "";
    if (at < 0 && !folded) setFolded(true);
    setChosen(at);
  };
  useEffect(() => {
    const back = () => {
      if (projectOf(location) !== project && !shared) return; // another one begins anew
      const to = placeOf(location);
      clearTimeout(noted.current);
      setPlace(to);
      setHit(hitOf(to));
      setAgainst(to.with);
      if (!to.page) (setFilter(to.filter), setKinds(to.kinds), setOrder(to.order));
      if (to.row) return find(to.row);
      if (to.page || !list.current) return;
      picked.current = false;
      setChosen(newest(list.current.rows));
    };
    addEventListener("popstate", back);
    return () => (removeEventListener("popstate", back), clearTimeout(noted.current));
  }, [folded]);
  // Whoever is led to another place goes on from there: its keys, and what a screen reader says.
  const led = useRef(null); // where the focus was last
  useLayoutEffect(() => {
    const here = place.page + " " + (place.path || place.query || "");
    if (led.current?.startsWith("search ") && !place.page) setFilter(""); // it was what was searched for
    if (led.current !== null && led.current !== here) document.querySelector(place.page ? "main.place" : ".timeline")?.focus({ preventScroll: true });
    led.current = here;
    showTab();
  }, [place]);
  useEffect(() => {
    addEventListener("resize", showTab);
    return () => removeEventListener("resize", showTab);
  }, []);

  // Rows: the first page at once, then all, and again whenever there are news.
  useEffect(() => {
    const stop = new AbortController();
    let running = false, again = false, whole = false, due = 0, knows = ""; // the news that the rows have
    const take = (t, all) => {
      list.current = t;
      const at = t.rows.findIndex((r) => r.id === chosenID.current);
      setData(t);
      if (t.news) knows = t.news;
      t.news = ++news.current;
      setError(null);
      if (at < 0 && wanted.current && !(all && folded)) {
        if (all && !shared) return void setFolded(true);
        if (!all) return;
      }
      if (at < 0 && wanted.current) (missing.current = wanted.current), setFolded(false);
      wanted.current = "";
      if (at < 0 && missing.current === chosenID.current) return setChosen(-1);
      const left = picked.current && at < 0 ? leaves.current(t.rows) : []; // the row that was chosen is gone
      setChosen(picked.current && at >= 0 ? at : left.length && left.length < t.rows.length ? left[0] : newest(t.rows));
    };
    const load = async () => {
      if (running) return void (again = true);
      running = true;
      const from = performance.now();
      try {
        const before = list.current;
        const begun = first.current;
        first.current = null;
        const have = whole && !shared ? before.list : ""; // of what is known, only what is otherwise is sent
        const head = begun || updated(before, await get(`p/${project}/timeline`, { limit: FIRST, now: whole ? 1 : "", list: have }, stop.signal));
        const both = whole && due >= 0 && !folded && joined(before, head);
        if (both) {
          take(both, true);
          if ((head.log !== before.log || both.numbered) && !due) due = setTimeout(() => ((due = -1), load()), LATER); // an older row may have a name now, or speak of another number
        } else {
          clearTimeout(due);
          due = 0;
          if (!whole) {
            begun ? (list.current = begun) : take(head);
            await Promise.race([opened.current.promise, new Promise((r) => setTimeout(r, 1000))]); // its question first: all rows may take long
          }
          take(updated(before, await get(`p/${project}/timeline`, shared ? {} : { ...ALL, safety: folded ? 1 : "", list: have }, stop.signal)), true);
        }
        if (!whole) calmed.then(() => warm(list.current.rows));
        whole = true;
        calm();
      } catch (e) {
        if (e.name !== "AbortError") setError(e);
      }
      if (again) await new Promise((r) => setTimeout(r, 2 * (performance.now() - from))); // agents may save faster than all is read
      running = false;
      if (again) {
        again = false;
        if (!stop.signal.aborted) load();
      }
    };
    const watch = async () => {
      await calmed; // first what there is, then the news
      while (!stop.signal.aborted) {
        await seen(); // a tab in the background keeps no server alive
        if (stop.signal.aborted) return;
        const leave = new AbortController();
        const hide = () => (document.hidden || stop.signal.aborted) && leave.abort();
        document.addEventListener("visibilitychange", hide);
        stop.signal.addEventListener("abort", hide);
        let ended = true;
        try {
          await stream(`p/${project}/events`, {}, (e) => {
            if (e.ended || leave.signal.aborted) return;
            setLive(!e.error);
            if (e.error) knows = ""; // the rows are read again when it is over, whether or not they changed
            if (e.error) setError({ message: e.error, hint: e.hint });
            if (e.looked) setLooked(Date.parse(e.looked));
            if (e.news && e.news !== knows) load();
          }, leave.signal);
        } catch (e) {
          ended = !e.status;
          if (e.status) setError(e);
        }
        document.removeEventListener("visibilitychange", hide);
        stop.signal.removeEventListener("abort", hide);
        if (stop.signal.aborted) return;
        setLive(false);
        if (leave.signal.aborted) continue;
        if (ended) setError(SILENT);
        await new Promise((r) => setTimeout(r, 2000));
      }
    };
    load();
    if (!shared) watch();
    return () => stop.abort();
  }, [project, folded]);

  const rows = data ? data.rows : [];
  useMemo(() => orderSessions(rows, !!data && !data.more), [data]); // before anything is drawn in their colours
  leaves.current = (rows) => filtered(rows, filter, kinds, range);
  const shown = useMemo(() => (order ? grouped(rows, leaves.current(rows)) : leaves.current(rows)), [rows, filter, kinds, range, order]);
  useEffect(() => {
    if (order && !labels && !shared) get(`p/${project}/sessions`).then((v) => setLabels(new Map(v.sessions.map((s) => [s.id, s.label]))), () => {}); // their ids still tell them apart
  }, [order]);
  const row = rows[chosen];
  // The files are looked at soon: who comes back to the page, or chooses now, waits for it. The news tell.
  const lookNow = useCallback(() => void (!shared && !document.hidden && get(`p/${project}/now`).catch(() => {})), [project]);
  useEffect(() => {
    addEventListener("focus", lookNow);
    return () => removeEventListener("focus", lookNow);
  }, [lookNow]);
  // What a row that is chosen will be asked for, before it is drawn as such.
  const ask = useCallback((r) => {
    const other = marked && marked !== r.id ? marked : against;
    ahead([`p/${project}/look`, { id: r.id, other }], [`p/${project}/talk`, { id: r.id }]);
  }, [project, marked, against]);
  const choose = useCallback((n, click) => {
    if (!rows[n]) return;
    if (n !== chosen) ask(rows[n]);
    setChosen(n);
    picked.current = true;
    chosenID.current = rows[n].id;
    wanted.current = "";
    if (place.page === "") note(rows[n].id, click && n !== chosen);
    if (rows[n].id === "@") lookNow();
  }, [rows, chosen, ask, place]);
  useEffect(() => {
    if (!row || place.page || shared || placeOf(location).with === against) return;
    picked.current = true;
    note((chosenID.current = row.id));
  }, [against]);
  const viewed = useRef(false); // the address says how the rows are looked at
  useLayoutEffect(() => { // at once: after the next key another place may be shown, whose address stays
    if (viewed.current && !place.page) note(picked.current ? chosenID.current : "");
    viewed.current = true;
  }, [filter, kinds, order]);
  const noteLine = (id, path, line) => {
    clearTimeout(noted.current);
    picked.current = true;
    history.replaceState(null, "", address(project, { page: "", row: (chosenID.current = id), ...besides.current, path, line }));
  };
  // goTo leads to a row, of those too that add nothing and are not shown.
  const goTo = (id, hit) => {
    setHit(hit ? { id, ...hit } : null);
    setFilter("");
    setRange(null);
    setKinds("all");
    find(id);
    go({ page: "" });
  };
  const known = useMemo(() => new Set(rows.map((r) => r.id)), [rows]);
  const compared = useRef(false); // rows that tell nothing are shown for a comparison alone
  useEffect(() => { // the end of an attempt may be a row that adds nothing
    if (place.page === "compare" && data && !data.more && [place.a, place.b].some((id) => id && !known.has(id))) (compared.current = true, setFolded(true));
    if (place.page === "compare" || !compared.current) return;
    compared.current = false;
    wanted.current = picked.current ? chosenID.current : "";
    setFolded(false);
  }, [place, known]);
  const isCheckpoint = row && row.id !== "@" && row.id[0] !== "#";
  const pin = async () => {
    try {
      tell((await post(`p/${project}/marks`, { id: row.id, pinned: !row.pinned })).said + (row.pinned ? "." : "; p again takes the pin away."));
    } catch (e) {
      setError(e);
    }
  };
  const attemptsOf = (r) => go({ page: "attempts", a: r.id !== "@" && r.id[0] !== "#" ? r.id : "" });
  const share = async (r) => {
    if (making !== null) return;
    tell("");
    setMaking(0);
    try {
      await keep(`p/${project}/export`, { session: r.session }, plain(name) + "-" + r.session.slice(0, 8) + ".html", setMaking);
      tell("The session is in your downloads as one page, without what is known to be secret. Look at it before you share it.");
    } catch (e) {
      setError(e);
    }
    setMaking(null);
  };
  const compare = () => go({ page: "compare", a: marked || (isCheckpoint ? row.id : ""), b: marked && row && marked !== row.id ? row.id : "@" });
  const step = (by, prompts) => {
    let i = shown.indexOf(chosen);
    do i += by;
    while (prompts && i >= 0 && i < shown.length && !rows[shown[i]].prompt);
    if (i >= 0 && i < shown.length) choose(shown[i]);
    else if (!prompts && shown.length) choose(shown[Math.max(0, Math.min(shown.length - 1, i))]);
  };
  const restore = () => row && row.id !== "@" && row.id[0] !== "#" && !readOnly && setAction({ verb: "restore", id: row.id });
  // Before the screen is painted: a key that comes right after another must find the page as that one left it.
  useLayoutEffect(() => {
    const key = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      if (e.target === search.current && e.key === "ArrowDown") (document.querySelector(".timeline") || e.target)[place.page === "" ? "focus" : "blur"](); // into the rows that are left
      else if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return void (e.key === "Escape" && (e.target === search.current && setFilter(""), e.target.blur()));
      const keys = {
        ArrowDown: () => step(1), j: () => step(1), ArrowUp: () => step(-1), k: () => step(-1), PageDown: () => step(15), PageUp: () => step(-15),
        Home: () => shown.length && choose(shown[0]), End: () => shown.length && choose(shown[shown.length - 1]),
        "]": () => step(-1, true), "[": () => step(1, true), "/": () => search.current?.focus(), Enter: restore, r: restore,
        v: () => !readOnly && row && row.session && row.id[0] !== "#" && setAction({ verb: "revert", id: row.id }),
        u: () => !readOnly && setAction({ verb: "undo" }), U: () => !readOnly && setAction({ verb: "redo" }),
        d: () => !shared && setAgainst(against === "@" ? "" : "@"), " ": () => !shared && row && setMarked(marked === row.id ? null : row.id),
        a: () => !shared && row && attemptsOf(row), n: () => isCheckpoint && !readOnly && setNaming(row), p: () => isCheckpoint && !readOnly && pin(), c: () => !shared && compare(),
        m: () => go({ page: "film" }), f: () => go({ page: "files" }), s: () => !shared && go({ page: "space" }), h: () => !shared && go({ page: "health" }), o: () => !shared && go({ page: "operations" }), "?": () => go({ page: "keys" }), Escape: () => (setMarked(null), setAgainst(""), setRange(null), go({ page: "" })),
      };
      const typing = place.page !== "" && !["Escape", "?", "o", "m", "h", "s", "f", "/"].includes(e.key);
      if (keys[e.key] && !typing && !(/^(Enter| )$/.test(e.key) && e.target.closest("button, summary, a")) && !(/^(Arrow|Page|Home|End)/.test(e.key) && e.target.matches(".talk, .right"))) {
        e.preventDefault();
        keys[e.key]();
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  const name = projects.find((p) => p.id === project)?.name;
  const called = (row && place.page === "" ? title(row) + " · " : "") + plain(name) + " · rewind";
  useEffect(() => { // the browser draws its window anew for it
    let is = true;
    calmed.then(() => is && (document.title = called));
    return () => (is = false);
  }, [called]);
  const other = marked && row && marked !== row.id ? marked : against;
  const chart = useMemo(() => html`<${Chart} rows=${rows} range=${range} setRange=${setRange} />`, [rows, range]);
  // The file that is beside the list has an address of its own once something of it is chosen.
  const file = (path) => html`<${FilePage} key=${path} project=${project} path=${path} at=${place} news=${data && data.news} goTo=${goTo} restore=${readOnly ? null : (id) => setAction({ verb: "restore", id, paths: [path] })} set=${(version, line, whole) => go({ page: "file", path, version, line, whole }, place.page === "file")} />`;
  const files = (path) => html`<${FilePlace} project=${project} news=${data && data.news} path=${path} show=${file} onFile=${(path) => go({ page: "file", path })} />`;
  const page = {
    film: () => html`<${Film} project=${project} rows=${rows} goTo=${goTo} />`,
    file: () => files(place.path),
    files: () => files(""),
    operations: () => html`<${Operations} project=${project} rows=${rows} news=${data && data.news} goTo=${goTo} />`,
    space: () => html`<${Space} project=${project} rows=${rows} news=${data && data.log} goTo=${goTo} onFile=${(path) => go({ page: "file", path })} />`,
    attempts: () => html`<${Attempts} project=${project} id=${place.a} news=${data && data.news} goTo=${goTo} compare=${(a, b) => go({ page: "compare", a, b })} restore=${readOnly ? null : (id) => setAction({ verb: "restore", id })} />`,
    health: () => html`<${Health} project=${project} news=${data && data.news} />`,
    search: () => html`<${Search} project=${project} rows=${rows} query=${place.query} goTo=${goTo} onFile=${(path, hit) => go({ page: "file", path, version: hit.id || "", line: hit.line || 0, text: hit.text || "" })} />`,
    keys: () => html`<${Keys} readOnly=${readOnly} shared=${shared} />`,
    compare: () => data && html`<${Compare} project=${project} data=${data} filter=${filter} a=${place.a} b=${place.b} news=${data.news} goTo=${goTo} onHistory=${(path) => go({ page: "file", path })}
      set=${(a, b) => go({ page: "compare", a, b }, true)} setAction=${readOnly ? null : setAction} />`,
  }[place.page];
  return html`<header>
      <h1>rewind</h1>
      ${projects.length > 1 ? html`<${Projects} project=${project} projects=${projects} choose=${chooseProject} renew=${renew} />` : html`<span class="project" title=${plain(projects[0].root)} onPointerEnter=${shared ? undefined : renew}><${Text} of=${name} /></span>`}
      <form role="search" onSubmit=${(e) => (e.preventDefault(), filter && (search.current.blur(), go({ page: "search", query: filter })))}>
        <input type="search" ref=${search} placeholder="filter ( / ), Enter searches the content" aria-label="Filter the timeline; Enter searches the content of all checkpoints" value=${filter} onInput=${(e) => setFilter(e.target.value)} />
      </form>
      <nav aria-label="Places">${[["", "timeline"], ["files", "files"], ["compare", "compare"], ["attempts", "attempts"], ["film", "film"], ["operations", "operations"], ["space", "space"], ["health", "health"], ["keys", "keys"]].filter(([p]) => !shared || !/operations|health|compare|space|attempts/.test(p)).map(([p, label]) => html`<a href=${address(project, { page: p })} aria-current=${place.page === p ? "page" : place.page === "file" && p === "files" ? "true" : undefined} onClick=${(e) => e.ctrlKey || e.metaKey || e.shiftKey || (e.preventDefault(), p === "compare" ? compare() : go({ page: p }))}>${label}</a>`)}</nav>
      ${shared ? html`<span class="exported">exported from <${Text} of=${exported.project} /> at <time datetime=${exported.time}>${when(exported.time)}</time></span>` : html`<span class=${"live" + (live ? " on" : lost ? "" : " connects")} role="status">${!live ? (lost ? "not connected" : "connecting…") : looked && Date.now() - looked > OLD ? "live, files as of " + new Date(looked).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : "live"}</span>`}
      ${readOnly ? !shared && html`<span class="note" title="rewind ui without --read-only can change something">read-only</span>` : html`<button onClick=${() => setAction({ verb: "undo" })}>Undo…</button>`}
    </header>
    ${shared && html`<aside class="note about" aria-label="About this file"><${Text} of=${exported.notes.join(" ")} /></aside>`}
    ${error && html`<p class="warn" role="alert"><${Text} of=${error.message} />${error.hint && html` (<${Text} of=${error.hint} />)`}</p>`}
    ${said && html`<p class="done" role="status"><${Text} of=${said} />${resume && html` <code><${Text} of=${resume} /></code> <${Copy} text=${resume}>Copy the command<//>`} ${back && html`<button onClick=${() => (tell(""), setAction({ verb: back }))}>${back === "redo" ? "Redo…" : "Undo…"}</button>`} <button class="link" onClick=${() => tell("")}>dismiss</button></p>`}
    ${making !== null && html`<p class="done" role="status">The page of the session is made… <progress aria-label="Export" /> <span aria-hidden="true">${making > 0 && size(making)}</span></p>`}
    ${page ? html`<main class=${"place at-" + place.page} tabindex="-1">${page()}</main>` : html`
      ${chart}
      <main class="three" style=${restored()}>
        <section class="left" aria-label="What happened">
          <div class="bar"><p class="total">${data ? html`${shown.length < rows.length && html`<${Count} of=${shown.length} /> of `}<${Count} of=${rows.length} /> rows` : "…"}${data && !data.more && data.folded > 0 && html` <button class="link" title="Calls that changed nothing, ends of turns, what was done and undone, safety checkpoints" onClick=${() => setFolded(true)}>Show <${Count} of=${data.folded} /> without changes</button>`}${folded && html` <button class="link" onClick=${() => setFolded(false)}>Hide rows without changes</button>`}${range && html` <button class="link" onClick=${() => setRange(null)}>all times</button>`}</p>
          ${data && !readOnly && (hunt ? html`<${Hunt} rows=${rows} row=${row} hunt=${hunt} set=${setHunt} goTo=${goTo} setAction=${setAction} />` : html`<button class="link" title="Name a row where it worked and one where it does not: the turns between are halved until one is left" onClick=${() => setHunt({})}>Find the turn that broke it…</button>`)}
          ${data && !data.more && html`<label class="order">Rows <select aria-label="Which rows" value=${kinds} onChange=${(e) => setKinds(e.target.value)}><option value="all">all</option><option value="prompts">prompts</option><option value="changes">changes</option></select></label>
            <label class="order">Order <select aria-label="Order" value=${order} onChange=${(e) => setOrder(e.target.value)}><option value="">by time</option><option value="session">by session</option></select></label>`}
          ${data && !data.more && data.graph && html`<${Legend} project=${project} data=${data} />`}</div>
          ${data && !shown.length && html`<p class="note empty">${rows.length ? html`No row matches${filter && !shared ? ": Enter searches the files" : ""}. <button class="link" onClick=${() => (setFilter(""), setKinds("all"), setRange(null))}>Show all rows</button>` : "There is no checkpoint yet."}</p>`}
          ${data && !data.more && !readOnly && !rows.some((r) => r.session) && html`<p class="note empty">No agent has worked here yet. The next prompt to one takes a checkpoint, and <code>rewind save</code> takes one now. If agents do not call rewind, <code>rewind config --register-hooks</code> registers it.</p>`}
          ${data && html`<${Timeline} data=${data} shown=${shown} chosen=${chosen} marked=${marked} choose=${choose} open=${restore} plan=${readOnly ? null : (n, verb) => setAction({ verb, id: rows[n].id })}
            graph=${!order && shown.length === rows.length ? data.graph : null} order=${order} labels=${labels} tap=${() => requestAnimationFrame(() => matchMedia("(max-width: 900px)").matches && document.querySelector(".right")?.scrollIntoView({ block: "start" }))} />`}
        </section>
        <${Split} name="left" label="Width of the timeline" />
        ${row && html`<${Moment} project=${project} row=${row} other=${other} goTo=${goTo} onHistory=${(path) => go({ page: "file", path })}
          noteLine=${noteLine} share=${share} making=${making !== null} attemptsOf=${attemptsOf} readOnly=${readOnly} setAction=${setAction} setNaming=${setNaming} pin=${pin} setAgainst=${setAgainst} against=${against} news=${data.news} known=${known} opened=${opened.current.done} hit=${hit} />`}
        ${data && !row && missing.current === chosenID.current && html`<section class="middle" /><${Split} name="middle" label="Width of the conversation" /><section class="right" aria-label="Files" tabindex="0"><p class="warn" role="alert">no checkpoint "<${Text} of=${nameOfRow(missing.current)} />": it was forgotten, or gc removed it.</p>
          <p><button onClick=${() => choose(newest(rows), true)}>Show the newest row</button></p></section>`}
      </main>`}
    ${action && html`<${Plan} key=${JSON.stringify(action)} project=${project} action=${action} change=${setAction} close=${() => setAction((now) => (now === action ? null : now))} left=${(e) => tell(e.message + (e.hint ? ": " + e.hint : "") + ".")} done=${({ said, back, safety, resume }) => (setAction((now) => (now === action ? null : now)), tell(said, back, resume), hunt && action.verb === "restore" && setHunt({ ...hunt, home: action.id === hunt.home ? "" : hunt.home || safety }))} />`}
    ${naming && html`<${NameDialog} project=${project} row=${naming} close=${() => setNaming(null)} done=${(text) => (setNaming(null), tell(text + "."))} />`}`;
}

// Moment is one row: what was said, and the files.
function Moment({ project, row, other, goTo, onHistory, noteLine, share, making, attemptsOf, readOnly, setAction, setNaming, pin, setAgainst, against, news, known, opened, hit }) {
  const key = row.id + " " + other;
  const [got, setGot] = useState(() => {
    const look = !other && prepared(`p/${project}/look`, { id: row.id });
    return look ? { key, look, fresh: true } : null;
  });
  const [tries, setTries] = useState(0);
  const [file, setFile] = useState(null); // one to show, because of a call
  const [call, setCall] = useState(null); // one to show, because of a file
  const [spot, setSpot] = useState(null); // the line that was chosen last: { path, line }
  const busy = !got || got.key !== key;
  const error = !busy && got.error;
  // What can be otherwise than it was: now is, whenever something happened, and a row whose turn goes on.
  const stamp = row.id === "@" || other === "@" ? news : JSON.stringify(row.changes);
  useEffect(() => void (error && setTries(tries + 1)), [news]); // what went wrong may be right again
  // Before it is painted that a row is chosen: the answer is on its way meanwhile.
  useLayoutEffect(() => {
    const stop = new AbortController();
    const answer = (v) => (setGot({ key, ...v }), opened());
    const drawn = () => setGot((now) => (now.key === key ? { ...now } : now)); // another row may be chosen by then
    const loads = (v) => {
      for (const part of [v, v.then]) if (part) loadable(part, (f) => get(`p/${project}/diff`, { id: row.id, other, path: raw(f), part: part === v ? "" : "then" }), drawn);
      return v;
    };
    if (got && got.fresh && got.key === key) { // with the login
      got.fresh = false;
      loads(got.look);
      opened();
    } else get(`p/${project}/look`, { id: row.id, other }, stop.signal).then((v) => answer({ look: loads(v) }), (error) => error.name !== "AbortError" && answer({ error }));
    return () => stop.abort();
  }, [project, key, tries, stamp]);
  useEffect(() => (setFile(null), setCall(null), setSpot(null)), [key]);
  useEffect(() => { // a search led here
    if (!hit || hit.id !== row.id || busy || !got.look) return;
    const at = got.look.files.findIndex((f) => raw(f) === hit.path);
    if (at >= 0) (setFile({ at, line: hit }), setSpot({ path: hit.path, line: hit.line }));
  }, [hit, busy]);
  const isCheckpoint = row.id !== "@" && row.id[0] !== "#";
  const look = got && got.look;
  const partOf = (part) => (part === look ? "" : "then");
  const short = (row.of || "") + row.id.slice(0, 8), command = other ? `rewind diff ${short}` + (other === "@" ? "" : " " + (row.of || "") + other.slice(0, 8)) : `rewind show ${short}`;
  const diffOf = (id, subagent) => { // what the call changed, or the subagent that it ran
    const at = busy || !look ? -1 : look.files.findIndex((f) => (f.calls || []).includes(id) || (subagent && Object.values(f.subagents || {}).includes(subagent)));
    return at >= 0 && (() => setFile({ at }));
  };
  // They are drawn anew with another answer: until then those of the row before stay as they are.
  const files = useMemo(() => look && [look, look.then].map((part) => part && html`<${Files} key=${got.key + (part === look ? "" : " then")} files=${part.files} more=${part.more} onHistory=${onHistory} open=${part === look ? file : null}
        linesOf=${other || shared ? null : (f, signal) => get(`p/${project}/lines`, { id: row.id, path: raw(f), part: partOf(part) }, signal)} said=${(id, subagent) => setCall({ call: id, subagent })}
        onLine=${other || part !== look ? null : (path, line) => (noteLine(row.id, path, line), setSpot({ path, line }), setFile({ at: part.files.findIndex((f) => raw(f) === path), line: { line, text: "" } }))}
        picture=${shared ? null : (f, side) => bytes(`p/${project}/raw`, { id: row.id, other, path: raw(f), part: partOf(part), side })}
        onRestore=${isCheckpoint && !readOnly && part === look ? (path) => setAction({ verb: "restore", id: row.id, paths: [path] }) : null} />`), [got, file]);
  return html`<section class="middle" aria-label="What was said"><${Talk} key=${tries} project=${project} id=${row.id} stamp=${stamp} call=${call} said=${hit && hit.id === row.id && hit.event ? hit : null} diffOf=${diffOf} rowOf=${(id) => id !== row.id && known.has(id)} goTo=${goTo} plan=${readOnly ? null : (id, verb) => setAction({ verb, id })} /></section>
    <${Split} name="middle" label="Width of the conversation" />
    <section class="right" aria-label="Files" aria-busy=${busy} tabindex="0">
      <div class="head"><h2><${Text} of=${title(row)} />${row.pinned && html` <span class="pin" title="pinned: gc keeps it">◆</span>`}</h2>
        <${Facts} row=${row} files=${look && !busy && !other ? [look, look.then].flatMap((part) => (part ? part.files : [])) : []} />
        ${isCheckpoint && html`<div class="buttons">
          ${!readOnly && html`<button class="go" onClick=${() => setAction({ verb: "restore", id: row.id })}>Restore…</button>`}
          ${!readOnly && row.session && html`<button title="What was done for this prompt goes; the rest stays (v)" onClick=${() => setAction({ verb: "revert", id: row.id })}>Revert<span class="wide"> this turn</span>…</button>`}
          ${!shared && html`<button title="Compare with the files as they are now (d)" aria-pressed=${against === "@"} onClick=${() => setAgainst(against === "@" ? "" : "@")}>Compare<span class="wide"> with now</span></button>`}
          ${!shared && html`<${More} key=${row.id}>
            ${!readOnly && row.call && html`<button title="What this call did goes; the rest stays" onClick=${() => setAction({ verb: "revert", id: row.id, call: true })}>Revert this call…</button>`}
            ${row.prompt && html`<button title="What came of this prompt each time it was tried (a)" onClick=${() => attemptsOf(row)}>Attempts at this prompt</button>`}
            ${!readOnly && html`<button title="A name stands wherever a checkpoint is asked for (n)" onClick=${() => setNaming(row)}>${row.name ? "Rename…" : "Name…"}</button><button onClick=${pin} title="gc never removes what is pinned (p)">${row.pinned ? "Unpin" : "Pin"}</button>`}
            <${Copy} text=${() => location.origin + address(project, { page: "", row: row.id, ...spot })} title="The address of this row, and of the line whose number was clicked, as long as rewind ui runs">Copy link<//>
            <${Copy} text=${command} title=${command}>Copy command <code>${command}</code><//>
            ${row.session && html`<${Copy} text=${() => resumes(project, row.session)} title="It opens the conversation at its end. To continue from this row: Restore…, Conversation">Copy the session's resume command<//>
              <button title="As one page to share, without your secrets" aria-disabled=${making} onClick=${() => share(row)}>${making ? "Exporting…" : "Export session (download)"}</button>`}<//>`}
        </div>`}</div>
      ${error && html`<p class="warn" role="alert"><${Text} of=${error.message} />${error.hint && html` (<${Text} of=${error.hint} />)`}</p>`}
      ${look ? html`<div class=${busy ? "stale" : ""}>${look.head_moved && html`<${Moved} of=${look.head_moved} />`}${(look.git || []).length > 0 && html`<ul class="git">${look.git.map((g) => html`<li><${Text} of=${g} most=${400} /></li>`)}</ul>`}<p class="what"><${Text} of=${look.title} /></p>${files[0]}${look.then && html`<h3 class="then"><${Text} of=${look.then.title} /></h3>${files[1]}`}</div>` : !error && html`<p class="wait">…</p>`}
    </section>`;
}

// Facts is one line: whose a row is, when it was, its id, and how much it changed.
function Facts({ row, files }) {
  const calm = useCalm();
  const of = [row.agent, row.session && "session " + row.session.slice(0, 8)].filter(Boolean).join(", ");
  const lines = (what) => files.reduce((n, f) => n + f[what], 0);
  const large = files.filter((f) => f.large).length;
  return html`<p class="facts-line">${of && html`<span><${Hue} of=${row.session} /><${Text} of=${of} /></span>`}${row.id !== "@" && calm && html`<time datetime=${new Date(row.ms).toISOString()}>${when(row.ms)}</time>`}${/^[k-z]/.test(row.id) && html`<code title=${row.id}>${row.id.slice(0, 8)}</code>`}${files.length > 0 && html`<span>${count(files.length, "file", "files")}${lines("added") + lines("deleted") > 0 && html` <span class="plus">+${lines("added")}</span> <span class="minus">−${lines("deleted")}</span>`}${large > 0 && `, ${number(large)} too large for lines`}</span>`}${!files.length && html`<span><${Both} of=${row} /></span>`}</p>`;
}

// resumes gives the command that opens a session's conversation.
async function resumes(project, session) {
  const found = (await get(`p/${project}/sessions`)).sessions.find((s) => s.id === session);
  if (!found?.resume) throw Object.assign(new Error(), { told: "The agent's file is gone" });
  return found.resume;
}

// hitOf is the line of a row that an address names.
const hitOf = (place) => (place.row && place.path ? { id: place.row, path: place.path, line: place.line, text: "" } : null);

const projectOf = (location) => /^\/p\/([0-9a-f]{32})(?:\/|$)/.exec(location.pathname)?.[1];

// A row has a name in addresses: /p/PROJECT/c/NAME.
const nameOfRow = (id) => (id === "@" ? "now" : id.replace("#", "op-"));
const rowOfName = (name) => (name === "now" ? "@" : (name || "").replace(/^op-(?=\d+$)/, "#"));

function placeOf(location) {
  const q = new URLSearchParams(shared ? location.hash.slice(1) : location.search);
  const page = q.get("at") || "";
  const row = page ? "" : rowOfName(shared ? q.get("c") : /^\/p\/[0-9a-f]{32}\/c\/([\w-]+)$/.exec(location.pathname)?.[1]);
  return { page, row, with: row && q.get("with") === "now" ? "@" : "", version: q.get("v") || "", line: +q.get("line") || 0, text: q.get("text") || "", path: q.get("path") || "", whole: q.has("whole"), query: q.get("q") || "", filter: (!page && q.get("f")) || "", kinds: { prompts: "prompts", changes: "changes" }[q.get("rows")] || "all", order: q.get("order") === "session" ? "session" : "", a: q.get("a") || "", b: q.get("b") || "" };
}

function address(project, place) {
  const q = new URLSearchParams();
  if (place.page) q.set("at", place.page);
  if (place.with) q.set("with", "now");
  if (place.path) q.set("path", place.path);
  if (place.version) q.set("v", place.version);
  if (place.line) q.set("line", place.line);
  if (place.text) q.set("text", place.text);
  if (place.whole) q.set("whole", "");
  if (place.filter) q.set("f", place.filter);
  if (place.kinds && place.kinds !== "all") q.set("rows", place.kinds);
  if (place.order) q.set("order", place.order);
  if (place.query) q.set("q", place.query);
  if (place.a) q.set("a", place.a);
  if (place.b) q.set("b", place.b);
  if (shared && place.row) q.set("c", nameOfRow(place.row));
  if (shared) return "#" + q;
  return "/p/" + project + (place.row ? "/c/" + nameOfRow(place.row) : "") + (q.size ? "?" + q : "");
}

const root = document.getElementById("app");
try {
  const first = await logIn(projectOf(location) || "");
  const { projects, read_only, exported } = first;
  root.textContent = "";
  render(html`<${Shell} first=${projects} readOnly=${read_only} exported=${exported} />`, root);
  aheadOfAll(first);
} catch (e) {
  root.textContent = "";
  render(html`<p class="warn" role="alert">${e.message}${e.hint ? ": " + e.hint : ""}</p>`, root);
  addEventListener("hashchange", () => location.reload()); // another address, with a code that is good
}
