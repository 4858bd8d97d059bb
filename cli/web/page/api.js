// Requests. The token is kept for this tab alone, and sent with each of them; there is no cookie.
// A page that is a file has its answers with it.
import { shared, get as fromFile, stream as linesFromFile } from "./island.js";
import { calmed, painted } from "./calm.js";
export { shared };

const KEY = "rewind-token"; // of sessionStorage: the page is still logged in when it is loaded again
let token = "";

export class Failure extends Error {
  constructor(status, body) {
    super(body.error || "the server does not answer");
    this.status = status;
    this.hint = body.hint || "";
    this.body = body;
  }
}

// SILENT is what is told where no answer came at all.
export const SILENT = { message: "rewind ui does not answer", hint: "it ends by ctrl-c, or when nobody has looked for 30 minutes: rewind ui opens the page again" };

export const FIRST = 200; // rows that are shown before all are known
export const ALL = { form: "columns" }; // what all rows are asked for with

// What the server gave with the login, for the questions that the page would ask first.
const given = new Map();
const GIVEN = 5000; // ms that it serves

function take(first) {
  const { project, start } = first;
  if (!start) return first;
  given.set(`p/${project}/timeline?limit=${FIRST}`, start.timeline);
  if (start.look) given.set(`p/${project}/look?id=${start.id}`, start.look);
  if (start.talk) given.set(`p/${project}/talk?id=${start.id}`, start.talk);
  setTimeout(() => given.clear(), GIVEN);
  return first;
}

// prepared gives an answer that is there already, once; else nothing.
export function prepared(path, args = {}) {
  const key = address(path, args), v = given.get(key);
  given.delete(key);
  return v;
}

// Requests that were sent before whoever wants the answer asks for it: the page is drawn meanwhile.
const sent = new Map(); // { answer, stop } by address

// ahead sends them, and gives up those that nobody has asked for since it was last called.
export function ahead(...questions) {
  if (shared) return;
  for (const { stop } of sent.values()) stop.abort();
  sent.clear();
  for (const [path, args] of questions) {
    const key = address(path, args), stop = new AbortController(), answer = request(key, { signal: stop.signal });
    answer.catch(() => {}); // whoever asks is told
    sent.set(key, { answer, stop });
  }
}

// aheadOfAll asks for all rows, where what is drawn first is there: nothing else is asked before it.
export function aheadOfAll({ project, start }) {
  if (start && start.look && start.timeline.more) ahead([`p/${project}/timeline`, ALL]);
}

// taken is a request that was sent before, as one that is sent now.
function taken(key, signal) {
  const early = sent.get(key);
  sent.delete(key);
  if (early && signal) signal.aborted ? early.stop.abort() : signal.addEventListener("abort", () => early.stop.abort());
  return early && early.answer;
}

// logIn exchanges the one-time code of the address for a token, and asks other tabs where there is none. It gives what
// the page begins with.
export async function logIn(project) {
  if (shared) return get("projects");
  const begun = globalThis.rewindLogin; // by begin.js, before this script was there
  globalThis.rewindLogin = undefined;
  const code = begun ? "" : new URLSearchParams(location.hash.slice(1)).get("code");
  if (code || begun) {
    calmed.then(() => location.hash && history.replaceState(null, "", location.pathname + location.search)); // the code is of no more use; other processes of the browser are told
    const r = await (begun || fetch("/api/v1/login", { method: "POST", body: JSON.stringify({ code, project }) }));
    const body = await r.json();
    if (r.ok) {
      use(body.token);
      if (body.projects) return take(body);
    } else if (!sessionStorage.getItem(KEY)) throw new Failure(r.status, body);
  }
  if (!token && sessionStorage.getItem(KEY)) use(sessionStorage.getItem(KEY));
  if (token) return take(await get("start", { project }));
  const other = await new Promise((done) => {
    const asked = new BroadcastChannel("rewind");
    const ask = () => asked.postMessage("who");
    const again = setInterval(ask, 100); // a tab that is still loading, or a busy machine, answers late
    const end = (its) => (clearInterval(again), asked.close(), done(its));
    asked.onmessage = (e) => e.data.token && end(e.data.token);
    ask();
    setTimeout(end, 3000, "");
  });
  if (!other) throw new Failure(401, { error: "this page is not logged in", hint: "rewind ui opens one that is" });
  use(other);
  return take(await get("start", { project }));
}

// use keeps the token for this tab, and tells it to those that ask for it. Both wait for other processes of the browser:
// who leaves or loads the page again before there is time for it has it kept then.
function use(its) {
  token = its;
  const keep = () => sessionStorage.setItem(KEY, token);
  addEventListener("pagehide", keep, { once: true });
  calmed.then(keep);
  painted(() => {
    const channel = new BroadcastChannel("rewind");
    channel.onmessage = (e) => e.data === "who" && channel.postMessage({ token });
  });
}

function request(path, options = {}) {
  return fetch("/api/v1/" + path, { ...options, headers: { Authorization: "Bearer " + token } }).catch((e) => {
    throw e.name === "AbortError" ? e : Object.assign(new Error(SILENT.message), { hint: SILENT.hint });
  });
}

async function body(r) {
  let v;
  try {
    v = await r.json();
  } catch (e) {
    if (e.name === "AbortError") throw e; // whoever asked looks elsewhere
    v = {};
  }
  if (!r.ok) throw new Failure(r.status, v);
  return v;
}

const question = (path) => path.split("/").pop();

// get asks for an answer. After the signal's abort it fails with AbortError, also where an answer came meanwhile.
export async function get(path, args = {}, signal) {
  try {
    if (shared) return await fromFile(question(path), args);
    const key = address(path, args);
    return prepared(path, args) ?? (await body(await (taken(key, signal) ?? request(key, { signal }))));
  } finally {
    signal?.throwIfAborted();
  }
}

function address(path, args) {
  const q = new URLSearchParams(Object.entries(args).filter(([, v]) => v !== "" && v !== undefined));
  return path + (q.size ? "?" + q : "");
}

export const post = async (path, v) => body(await request(path, { method: "POST", body: JSON.stringify(v ?? {}) }));

// bytes gives bytes that the server has, as a blob. came is told how many are there, whenever there are more.
export async function bytes(path, args, came = () => {}) {
  const r = await request(address(path, args));
  if (!r.ok) return body(r);
  const parts = [], read = r.body.getReader();
  for (let n = 0; ; came(n)) {
    const { value, done } = await read.read();
    if (done) return new Blob(parts);
    parts.push(value);
    n += value.length;
  }
}

// keep lets the person keep bytes as a file. They are shown nowhere.
export async function keep(path, args, name, came) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(await bytes(path, args, came));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}

// stream calls line with each line of JSON, until the end or the signal's.
export async function stream(path, args, line, signal) {
  if (shared) return linesFromFile(question(path), args, line, signal);
  const r = await request(path + "?" + new URLSearchParams(args), { signal });
  if (!r.ok) throw new Failure(r.status, await r.json().catch(() => ({})));
  const read = r.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await read.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const l of lines) if (l) line(JSON.parse(l));
  }
}
