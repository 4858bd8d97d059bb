// Colours of code come from a worker, after the text is there; what comes back are lengths and classes, never markup.
import { shared, unpack } from "./island.js";
import { calmed } from "./calm.js";

const names = {
  js: "javascript", mjs: "javascript", jsx: "javascript", ts: "typescript", tsx: "typescript", py: "python", go: "go", rs: "rust", c: "c", h: "c",
  cc: "cpp", cpp: "cpp", hpp: "cpp", java: "java", kt: "kotlin", rb: "ruby", php: "php", cs: "csharp", swift: "swift", sh: "bash", bash: "bash",
  css: "css", scss: "scss", html: "xml", xml: "xml", svg: "xml", json: "json", yml: "yaml", yaml: "yaml", toml: "ini", ini: "ini", sql: "sql", md: "markdown",
  lua: "lua", pl: "perl", diff: "diff", mk: "makefile", makefile: "makefile", dockerfile: "dockerfile",
};

let worker = null, address = "/colour-worker.js";
let own = null; // the worker that a file brings with it
const waiting = new Map();
let next = 0;

export async function colours(path, lines) {
  const base = path.split("/").pop().toLowerCase();
  const known = (name) => (Object.hasOwn(names, name) ? names[name] : null);
  const language = known(base) || known(base.split(".").pop());
  if (!language || lines.some((l) => l.length > 5000)) return null;
  if (shared && !worker) address = await (own ??= unpack("colours").blob().then((b) => URL.createObjectURL(new Blob([b], { type: "text/javascript" }))));
  await calmed;
  if (!worker) {
    // The only address that may become code here: the policy's name stands in the server's.
    const trusted = globalThis.trustedTypes?.createPolicy("rewind-worker", { createScriptURL: () => address });
    worker = new Worker(trusted ? trusted.createScriptURL("") : address, { type: shared ? "classic" : "module" });
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)?.(data.ranges);
      waiting.delete(data.id);
    };
  }
  return new Promise((done) => {
    waiting.set(++next, done);
    worker.postMessage({ id: next, language, text: lines.join("\n") });
  });
}
