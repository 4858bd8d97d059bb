// What a page that is a file answers itself: the data is in the file, in blocks that are unpacked when they are asked for.
const KEPT = 40; // unpacked blocks
const TALK = 60; // messages at once, as from the server
const FOUND = 5000; // lines of a search

export const shared = document.getElementById("index") !== null;

// unpack gives the bytes of an element, as a Response.
export function unpack(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

let index = null;
const blocks = new Map();

function block(n) {
  let b = blocks.get(n);
  blocks.delete(n);
  if (!b) b = unpack("block-" + n).json();
  blocks.set(n, b);
  if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value);
  return b;
}

// blockOf is the one of blocks that begin at firsts, ascending, that has n.
function blockOf(list, n) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (list[mid].first <= n) low = mid;
    else high = mid - 1;
  }
  return list[low].block;
}

const no = (message) => Object.assign(new Error(message), { status: 404, hint: "" });

async function look(n) {
  return structuredClone((await block(blockOf(index.looks, n)))[n]);
}

async function talk({ id, before }) {
  const n = at(id);
  const [branch, said] = index.talk[n];
  if (branch < 0) return { messages: [], earlier: false };
  const all = index.branches[branch].slice(0, said);
  const end = before ? before - 1 : all.length;
  const from = Math.max(0, end - TALK);
  const messages = [];
  for (let i = from; i < end; i++) messages.push({ ...(await block(blockOf(index.messages, all[i])))[all[i]], at: i + 1 });
  return { messages, earlier: from > 0 };
}

function at(id) {
  const n = index.places.get(id);
  if (n === undefined) throw no("that is not in this file");
  return n;
}

const bare = (f) => (f.path_b64 ? "//" + f.path_b64 : f.path);

// history are the versions of a file that the rows tell of, newest first.
async function history(path) {
  const rows = index.files[path] || [];
  const versions = [];
  for (const n of rows.slice(0, 200)) {
    const f = (await look(n)).files.find((f) => bare(f) === path);
    const r = index.timeline.rows[n];
    if (f) versions.push({ ...f, id: r.id, n: +r.n, time: r.time, kind: { A: "created", D: "deleted" }[f.status] || "changed", by: { id: r.id, why: r.why, text: r.text } });
  }
  return { path: versions[0] ? versions[0].path : path, versions, more: rows.length > 200 };
}

// paths are the files that the rows tell of, whose paths have all words of a text.
function paths(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = Object.keys(index.files).sort().filter((p) => words.every((w) => p.toLowerCase().includes(w)));
  const all = found.map((p) => (p.startsWith("//") ? { path: "", path_b64: p.slice(2) } : { path: p }));
  return { paths: all.slice(0, 1000), total: all.length, all };
}

// tree is one directory of the files that the rows tell of. A path that is no UTF-8 has its bytes in base64, and is in the root.
function tree(dir) {
  const below = dir ? dir + "/" : "", dirs = new Map(), own = [];
  for (const f of paths("").all) {
    const p = f.path_b64 ? "" : f.path, rest = p.slice(below.length), cut = rest.indexOf("/");
    if (f.path_b64 ? !dir : p.startsWith(below) && cut < 0) own.push(f);
    else if (!f.path_b64 && p.startsWith(below)) dirs.set(rest.slice(0, cut), 1 + (dirs.get(rest.slice(0, cut)) || 0));
  }
  return { paths: [...[...dirs].map(([name, files]) => ({ path: below + name, files })), ...own] };
}

export async function get(what, args) {
  switch (what) {
    case "projects":
      index = await unpack("index").json();
      index.places = new Map(index.timeline.rows.map((r, n) => [r.id, n]));
      index.files = Object.assign(Object.create(null), index.files);
      return { projects: [{ id: "shared", name: index.project, root: index.project }], read_only: true, exported: index.exported };
    case "timeline":
      return { ...index.timeline, rows: index.timeline.rows.map((r) => ({ ...r })) };
    case "look":
      if (args.other) throw no("only what each row did is in this file");
      return look(at(args.id));
    case "talk":
      return talk(args);
    case "history":
      return history(args.path);
    case "paths":
      return paths(args.q);
    case "tree":
      return tree(args.path);
  }
  throw no("that is not in this file");
}

// given is the text with what is searched for among those that a tool was given, without the JSON around it.
function given(json, query) {
  let found = json;
  try {
    JSON.parse(json, (_, v) => (typeof v === "string" && found === json && v.includes(query) && (found = v), v));
  } catch {} // it was cut
  return found;
}

// said looks through what was said; the oldest row that has a message is where it belongs.
async function said(query, line, signal) {
  const places = new Map(); // of messages: [branch, place]
  index.branches.forEach((list, b) => list.forEach((n, at) => places.has(n) || places.set(n, [b, at])));
  let found = 0;
  for (const { block: b } of index.messages) {
    if (signal.aborted) return;
    for (const [n, m] of Object.entries(await block(b))) {
      const part = m.parts.find((p) => p.text.includes(query)), place = places.get(+n);
      if (!part || !place || found++ >= FOUND) continue;
      const rows = [];
      for (let i = index.talk.length - 1; i >= 0 && !rows.length; i--) if (index.talk[i][0] === place[0] && index.talk[i][1] > place[1]) rows.push(index.timeline.rows[i].id);
      const text = part.kind === "call" ? given(part.text, query) : part.text, at = Math.max(0, text.indexOf(query) - 100);
      line({ kind: part.kind, person: part.person, prompt: m.prompt, tool: part.tool, text: text.slice(at, at + 300), event: m.event, at: place[1] + 1, rows });
    }
  }
}

// stream looks through the changes of all rows, oldest first: a line that came is found, and where it went.
export async function stream(what, args, line, signal) {
  if (what === "events") {
    line({ news: "1" });
    return new Promise((done) => signal.addEventListener("abort", done));
  }
  if (what !== "search") throw no("that is not in this file");
  if (args.in === "talk") return said(args.q, line, signal);
  const found = [], open = new Map();
  for (let n = index.timeline.rows.length - 1; n >= 0 && found.length < FOUND; n--) {
    if (signal.aborted) return;
    const id = index.timeline.rows[n].id;
    for (const f of (await block(blockOf(index.looks, n)))[n].files) {
      if (!f.patch || !f.patch.includes(args.q)) continue;
      let no = 0, before = 0, hunk = false;
      for (const l of f.patch.split("\n")) {
        const m = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(l);
        if (m) {
          [before, no, hunk] = [+m[1], +m[2], true];
          continue;
        }
        if (!hunk) continue;
        const text = l.slice(1), key = bare(f) + "\0" + text;
        if (l[0] === "-" && text.includes(args.q)) {
          const was = open.get(key)?.pop();
          if (was) was.vanished = id;
          else found.push({ path: f.path, path_b64: f.path_b64, line: before, text, appeared: "", vanished: id });
        } else if (l[0] === "+" && text.includes(args.q)) {
          const m = { path: f.path, path_b64: f.path_b64, line: no, text, appeared: id, vanished: "" };
          found.push(m);
          open.has(key) ? open.get(key).push(m) : open.set(key, [m]);
        }
        if (l[0] !== "+") before++;
        if (l[0] !== "-") no++;
      }
    }
  }
  for (const m of found) line(m);
}
