// Requests. The token is kept for this tab alone, and sent with each of them; there is no cookie.
// A page that is a file has its answers with it.
import { shared, get as fromFile, stream as linesFromFile } from "./island.js";
export { shared };

const KEY = "rewind-token";

export class Failure extends Error {
  constructor(status, body) {
    super(body.error || "the server does not answer");
    this.status = status;
    this.hint = body.hint || "";
    this.body = body;
  }
}

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

export const FIRST = 200; // rows that are shown before all are known

// logIn exchanges the one-time code of the address for a token, and asks other tabs where there is none. It gives what
// the page begins with.
export async function logIn(project) {
  if (shared) return get("projects");
  const channel = new BroadcastChannel("rewind");
  channel.onmessage = (e) => {
    if (e.data === "who" && sessionStorage.getItem(KEY)) channel.postMessage({ token: sessionStorage.getItem(KEY) });
  };
  const begun = globalThis.rewindLogin; // by begin.js, before this script was there
  globalThis.rewindLogin = undefined;
  const code = begun ? "" : new URLSearchParams(location.hash.slice(1)).get("code");
  if (code || begun) {
    if (code) history.replaceState(null, "", location.pathname + location.search);
    const r = await (begun || fetch("/api/v1/login", { method: "POST", body: JSON.stringify({ code, project }) }));
    const body = await r.json();
    if (r.ok) {
      sessionStorage.setItem(KEY, body.token);
      if (body.projects) return take(body);
    } else if (!sessionStorage.getItem(KEY)) throw new Failure(r.status, body);
  }
  if (sessionStorage.getItem(KEY)) return take(await get("start", { project }));
  const token = await new Promise((done) => {
    const asked = new BroadcastChannel("rewind");
    asked.onmessage = (e) => e.data.token && done(e.data.token);
    asked.postMessage("who");
    setTimeout(() => done(""), 300);
  });
  if (!token) throw new Failure(401, { error: "this page is not logged in", hint: "rewind ui opens one that is" });
  sessionStorage.setItem(KEY, token);
  return take(await get("start", { project }));
}

function request(path, options = {}) {
  return fetch("/api/v1/" + path, { ...options, headers: { Authorization: "Bearer " + sessionStorage.getItem(KEY) } });
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

export const get = async (path, args = {}, signal) => {
  if (shared) return fromFile(question(path), args);
  return prepared(path, args) ?? body(await request(address(path, args), { signal }));
};

function address(path, args) {
  const q = new URLSearchParams(Object.entries(args).filter(([, v]) => v !== "" && v !== undefined));
  return path + (q.size ? "?" + q : "");
}

export const post = async (path, v) => body(await request(path, { method: "POST", body: JSON.stringify(v ?? {}) }));

// keep lets the person keep bytes as a file. They are shown nowhere.
export async function keep(path, args, name) {
  const r = await request(path + "?" + new URLSearchParams(args));
  if (!r.ok) return body(r);
  const a = document.createElement("a");
  a.href = URL.createObjectURL(await r.blob());
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
