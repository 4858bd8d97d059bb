// Which paths of a plan are chosen. A directory stands for all below it, in a plan as on the disk: who leaves a path out
// leaves out the directories around it, and who chooses a directory chooses what is in it.
import { raw } from "./text.js";

const utf8 = new TextEncoder();

// bytes is a path as a text of its bytes: a directory and what is in it may be written in different ways.
const bytes = (f) => (f.path_b64 ? atob(f.path_b64) : String.fromCharCode(...utf8.encode(f.path)));

// turned gives the chosen paths after one of them is chosen or no longer so; null where all are.
export function turned(all, ticked, path) {
  const names = all.map(bytes), at = all.findIndex((f) => raw(f) === path), here = names[at];
  const on = all.map((f) => ticked(raw(f))), to = !on[at];
  names.forEach((n, i) => {
    if (n === here || n.startsWith(here + "/")) on[i] = to;
    else if (!to && here.startsWith(n + "/")) on[i] = false;
  });
  if (to) // a directory is whole again with the last path that is in it
    names.forEach((n, i) => {
      if (!on[i] && here.startsWith(n + "/") && names.every((m, j) => on[j] || !m.startsWith(n + "/") || here.startsWith(m + "/"))) on[i] = true;
    });
  return on.every(Boolean) ? null : new Set(all.filter((_, i) => on[i]).map(raw));
}

// sent is what the server is told of the chosen paths: those, or what is left out, whichever is shorter.
export function sent(all, picked) {
  const names = all.map(bytes), around = new Set(), within = (set, n) => {
    for (let i = n.indexOf("/"); i >= 0; i = n.indexOf("/", i + 1)) if (set.has(n.slice(0, i))) return true;
  };
  const list = (on) => {
    const set = new Set(names.filter((n, i) => on(n, i)));
    return all.filter((_, i) => set.has(names[i]) && !within(set, names[i])).map(raw);
  };
  const chosen = all.map((f) => picked.has(raw(f)));
  names.forEach((n, i) => {
    if (chosen[i]) for (let at = n.lastIndexOf("/"); at > 0 && !around.has(n.slice(0, at)); at = n.lastIndexOf("/", at - 1)) around.add(n.slice(0, at));
  });
  const paths = list((_, i) => chosen[i]), without = list((n, i) => !chosen[i] && !around.has(n));
  return without.length && without.length < paths.length ? { without } : { paths };
}

// joined gives the files that are known, as a newer plan of some of them has them, and those that only it has.
export function joined(all, files) {
  const now = new Map(files.map((f) => [raw(f), f])), known = new Set(all.map(raw));
  return [...all.map((f) => now.get(raw(f)) || f), ...files.filter((f) => !known.has(raw(f)))];
}
