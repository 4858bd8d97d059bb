// A plan: what would happen, before it does; then whether it did.
import { html, useState, useEffect, useRef } from "./html.js";
import { SILENT, bytes, get, post } from "./api.js";
import { Patch } from "./diff.js";
import { Pictures, pictured } from "./parts.js";
import { Hue } from "./timeline.js";
import { Text, Path, count, number, plain, raw } from "./text.js";
import { turned, joined, sent } from "./picks.js";

const MOST = 1000; // paths of a kind that are shown
const SOON = 500; // ms in which nobody has read a plan that came by itself: the click was meant for the one before
const LONG = 1000; // ms that it may be done in without a word
const words = { delete: "delete", replace: "replace", mode: "change the mode of", create: "create" }; // nothing is done yet
const sums = { delete: "to delete", replace: "to replace", mode: "to change the mode of", create: "to create" };

// paths counts files as the server does: without directories that are created or deleted.
const paths = (files) => files.filter((f) => !f.directory).length;
const directories = (files) => count(files.length - paths(files), "directory", "directories");

// Plan shows what an action would do, and does it. change(action) plans another instead. left(e) is told what went wrong
// with what was to be done, where somebody left before the answer came.
export function Plan({ project, action, close, done, left, change }) {
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [half, setHalf] = useState(action.half || "both");
  const [git, setGit] = useState(false); // of a restore: what git has lost since returns, too
  const [conflicts, setConflicts] = useState("keep");
  const [picked, setPicked] = useState(null); // some of the paths; null: all
  const [hunks, setHunks] = useState(null); // some of one file, as their texts; null: all of it
  const [parts, setParts] = useState(""); // of one file: one hunk or several, which are shown instead of its lines; "" until it is known
  const [all, setAll] = useState([]); // files of the plan of all paths, and what has come to it since
  const [failed, setFailed] = useState(null); // what was to be done was not, or nobody knows: stays said beside the plan that is made anew
  const [again, setAgain] = useState(0);
  const [long, setLong] = useState(false);
  const box = useRef();
  const gone = useRef(false);
  const unread = useRef(0); // until when
  const anew = useRef(false); // the next plan comes by itself
  useEffect(() => {
    box.current.showModal();
    return () => (gone.current = true);
  }, []);
  useEffect(() => {
    setLong(false);
    if (!busy) return;
    const late = setTimeout(() => setLong(true), LONG);
    return () => clearTimeout(late);
  }, [busy]);
  const shows = (p) => {
    if (anew.current) unread.current = performance.now() + SOON;
    anew.current = false;
    setPlan({ ...p, picked, hunks });
    setAll((now) => (picked ? joined(now, p.files) : p.files));
  };
  useEffect(() => {
    let live = true;
    setError(null);
    if ((picked && !picked.size) || (hunks && !hunks.length)) return void setPlan(null);
    post(`p/${project}/plans`, { ...action, half, conflicts, git: git && !picked, ...(picked && sent(all, picked)), ...(hunks && { paths: [], hunks: { path: action.paths[0], texts: hunks } }) }).then((p) => {
      if (live) shows(p);
    }, (e) => live && (setPlan(null), setError(e.status ? e : SILENT)));
    return () => (live = false);
  }, [project, action, half, git, conflicts, picked, hunks, again]);
  const lastOnly = action.verb === "undo" || action.verb === "redo"; // of the last thing that was done: made anew, the plan would be about another
  const other = (set) => {
    setPlan(null);
    setPicked(null);
    setFailed(null);
    set();
  };
  const pick = (paths) => (setFailed(null), setPicked(paths));
  const ready = plan && plan.picked === picked && plan.hunks === hunks && !plan.stale; // else it is about other paths, and the right one is on its way
  const apply = async () => {
    if (busy || !ready || performance.now() < unread.current) return; // not disabled meanwhile: it would lose the focus
    setBusy(true);
    setFailed(null);
    try {
      const r = await post(`p/${project}/plans/${plan.id}/apply`);
      if (!gone.current) box.current.close(); // the focus goes back to where it was
      done(r); // whoever left meanwhile is told, too: it was done
    } catch (e) {
      const now = e.status === 409 && e.body.files ? e.body : null;
      if (!e.status) e = { message: "no answer came to “" + plan.question + "”", hint: "it may be done all the same: operations (o) tell" };
      if (e.status === 410) e = { message: "nothing was done: " + e.message, hint: e.hint.replace(/; ask for it again$/, "") };
      anew.current = true;
      if (gone.current) left(now ? { message: now.changed.replace(/; this is the plan now\.$/, "") } : e);
      else if (now) shows(now);
      else {
        setFailed(e);
        if (lastOnly) setPlan(null);
        else { // what can be done now may be another plan, or none
          setPlan((p) => ({ ...p, stale: true, changed: "" }));
          setAgain((n) => n + 1);
        }
      }
    }
    setBusy(false);
  };
  // A button that does nothing says why.
  const reason = picked && !picked.size ? "Choose a path first" : hunks && !hunks.length ? "Choose a hunk first" : error ? "There is no plan: " + plain(error.message) : !ready ? "The plan is being made" : !plan.question ? "Nothing would change" : undefined;
  // What goes along with what is chosen is shown as chosen: it is what happens.
  const going = new Set(ready ? plan.files.map(raw) : []);
  const ticked = (path) => !picked || picked.has(path) || going.has(path);
  const toggle = (path) => pick(turned(all, ticked, path));
  const choosing = (action.verb === "restore" || action.verb === "revert") && all.length > 1;
  const list = choosing ? all : plan ? plan.files : [];
  // What differs between the target and now is what a restore changes; a revert's plan has its lines with it. A directory has none.
  const linesOf = (f) => !f.directory && (f.lines || (plan && plan.target && !(hunked && parts !== "one")));
  const hunked = action.verb === "restore" && (action.paths || []).length === 1 && all.length === 1 && all[0].action === "replace";
  const groups = ["delete", "replace", "mode", "create"].map((a) => [a, list.filter((f) => f.action === a)]).filter(([, l]) => l.length);
  const counts = ["replace", "mode", "create", "delete"].map((a) => [a, plan ? paths(plan.files.filter((f) => f.action === a)) : 0]).filter(([, n]) => n);
  return html`<dialog class="plan sheet" ref=${box} aria-labelledby="plan-title" onClose=${close}>
    <h2 id="plan-title">${plan ? html`<${Text} of=${plan.title} />` : label(action)}</h2>
    ${plan && (counts.length > 0 || plan.talk) && html`<p class="sum">${counts.map(([a, n]) => html`<span class=${"act-" + a}>${number(n)} ${sums[a]}</span>`)}${plan.talk && html`<span>conversation ${plan.talk}</span>`}</p>`}
    ${action.verb === "restore" && !(action.paths || []).length && !picked && html`<div class="halves" role="radiogroup" aria-label="What is restored">
      ${[["both", "Files and conversation"], ["code", "Files"], ["talk", "Conversation"]].map(([v, label]) => html`<label><input type="radio" name="half" value=${v} disabled=${busy} checked=${half === v} onChange=${() => other(() => setHalf(v))} /> ${label}</label>`)}
    </div>`}
    ${plan && plan.git && !picked && html`<p class="halves"><label><input type="checkbox" name="git" disabled=${busy} checked=${git} onChange=${() => other(() => setGit(!git))} /> What git has lost since, too</label></p>`}
    ${action.verb === "revert" && (conflicts !== "keep" || (plan && plan.conflicts > 0)) && html`<div class="halves" role="radiogroup" aria-label="Conflicts">
      ${[["keep", "Keep what was changed again since"], ["undo", "Revert that too"], ["markers", "Write both, between markers"]].map(([v, label]) => html`<label><input type="radio" name="conflicts" value=${v} disabled=${busy} checked=${conflicts === v} onChange=${() => other(() => setConflicts(v))} /> ${label}</label>`)}
    </div>`}
    ${plan && plan.changed && html`<p class="warn" role="alert"><${Text} of=${plan.changed} /></p>`}
    ${[failed, error].filter((e, i, both) => e && !(i && both[0] && both[0].message === e.message)).map((e) => html`<p class="warn" role="alert"><${Text} of=${e.message} />${e.hint && html`<br /><${Text} of=${e.hint} />`}</p>`)}
    ${plan && (plan.undoes || []).length > 0 && html`<section class="affected"><h3><${Hue} of=${plan.session} />Of this session it undoes</h3><ul>${plan.undoes.map((p) => html`<li><${Text} of=${p} /></li>`)}</ul></section>`}
    ${plan && plan.others.length > 0 && html`<div class="others">${plan.others.map((o) => html`<section class="affected other"><h3><${Hue} of=${o.session} /><${Text} of=${o.text} /></h3>${o.turns && html`<ul>${o.turns.map((t) => html`<li><${Text} of=${t} /></li>`)}</ul>`}</section>`)}
      ${plan.instead && html`<button disabled=${busy} onClick=${() => change(plan.instead)}>Keep it: revert only this session's last ${plan.instead.turns === 1 ? "turn" : plan.instead.turns + " turns"}…</button>`}
      ${(plan.alone || []).map((o) => html`<p><button disabled=${busy} onClick=${() => change(o.action)}>Revert only <${Text} of=${o.who} />: its last ${o.action.turns === 1 ? "turn" : o.action.turns + " turns"}…</button></p>`)}</div>`}
    ${plan && html`<ul class="facts">${plan.facts.filter((f) => !(counts.length && f.startsWith("Files: "))).map((f) => html`<li class=${/^Not captured, and gone/.test(f) ? "warn" : undefined}><${Text} of=${f} /></li>`)}</ul>`}
    ${groups.map(([a, of]) => html`<details open=${of.length <= 12}><summary>${words[a]} ${paths(of) || ""}${paths(of) < of.length && html` <span class="note">${paths(of) > 0 && "with "}${directories(of)}</span>`}</summary><ul class=${choosing ? "paths choose" : "paths"}>${of.slice(0, MOST).map((f) => html`<li class=${"act-" + a} key=${raw(f)}>
      ${choosing ? html`<label><input type="checkbox" disabled=${busy} checked=${ticked(raw(f))} onChange=${() => toggle(raw(f))} /> <span class="path"><${Path} of=${f} /></span></label>` : html`<span class="path"><${Path} of=${f} /></span>`}${linesOf(f) && html`<${Lines} project=${project} f=${f} target=${plan && plan.target} plan=${plan && plan.id} begin=${list.length <= FEW} />`}</li>`)}</ul>
      ${of.length > MOST && html`<p class="note">…and ${(of.length - MOST).toLocaleString()} more.</p>`}</details>`)}
    ${hunked && html`<${Hunks} project=${project} id=${action.id} path=${action.paths[0]} found=${setParts} chosen=${hunks} choose=${(texts) => (setFailed(null), setHunks(texts))} busy=${busy} />`}
    ${plan && plan.notes.map((n, i) => html`<p class=${i ? "note" : "good"}><${Text} of=${n} /></p>`)}
    ${!plan && !error && !failed && html`<p class="wait">${picked && !picked.size ? "No path is chosen." : hunks && !hunks.length ? "No hunk is chosen." : "…"}</p>`}
    ${busy && long && html`<p class="wait" role="status">It is being done; who leaves is told how it ended.</p>`}
    <div class="buttons">${choosing && picked && html`<button class="link" disabled=${busy} onClick=${() => pick(null)}>choose all</button>`}${choosing && !(picked && !picked.size) && html`<button class="link" disabled=${busy} onClick=${() => pick(new Set())}>choose none</button>`}<button onClick=${() => box.current.close()}>Cancel</button>
      ${(plan || !failed) && html`<button class="go" disabled=${!ready || !plan.question} title=${reason} onClick=${apply}>${plan && !plan.question ? "Nothing to do" : label(action, plan)}</button>`}</div>
  </dialog>`;
}

const FEW = 3; // files whose lines are shown at once

// Lines are those that a plan changes in a file. Those of a restore are asked for, from its target to now, and are turned
// round, since it goes back.
function Lines({ project, f, target, plan, begin }) {
  const [open, setOpen] = useState(begin);
  const [got, setGot] = useState(null);
  useEffect(() => {
    if (!open || f.lines) return;
    const stop = new AbortController();
    get(`p/${project}/diff`, { id: target, other: "@", path: raw(f) }, stop.signal).then((d) => setGot({ ...d, left: false, reversed: true }), (e) => e.name !== "AbortError" && setGot({ failed: e.message }));
    return () => stop.abort();
  }, [project, open, plan, target, raw(f)]); // a new plan is about other lines
  const file = f.lines ? { ...f.lines, left: false, cut: f.lines.left } : got;
  if (file && file.binary) return pictured(f.path) && target ? html`<${Pictures} key=${plan} path=${f.path} status=${{ create: "A", delete: "D" }[f.action] || "M"} of=${(side) => bytes(`p/${project}/raw`, { id: target, other: "@", path: raw(f), side: side === "old" ? "new" : "old" })} />` : html` <span class="note">binary</span>`;
  return html`<details class="lines" open=${begin} onToggle=${(e) => setOpen(e.target.open)}><summary>lines</summary>
    ${open && (!file ? html`<p class="wait">…</p>` : file.failed ? html`<p class="note"><${Text} of=${file.failed} />.</p>` : html`<${Patch} file=${file} narrow=${true} />`)}</details>`;
}

// Hunks are the parts of a file that a restore would change, where there are several; chosen are the texts of some, null for all.
function Hunks({ project, id, path, found, chosen, choose, busy }) {
  const [all, setAll] = useState([]);
  useEffect(() => {
    const stop = new AbortController();
    get(`p/${project}/hunks`, { id, path }, stop.signal).then((v) => (setAll(v.hunks), found(v.hunks.length < 2 ? "one" : "several")), (e) => e.name !== "AbortError" && found("one")); // all of it can be restored all the same
    return () => stop.abort();
  }, [project, id, path]);
  if (all.length < 2) return null;
  const on = chosen || all;
  const toggle = (text) => {
    const now = on.includes(text) ? on.filter((t) => t !== text) : all.filter((t) => t === text || on.includes(t));
    choose(now.length === all.length ? null : now);
  };
  return html`<section class="hunks"><h3>${on.length} of ${count(all.length, "hunk", "hunks")}</h3>${all.map((text, i) => html`<label class="choose-hunk" key=${text}><input type="checkbox" disabled=${busy} checked=${on.includes(text)} aria-label=${"Hunk " + (i + 1)} onChange=${() => toggle(text)} /><${Patch} file=${{ path, patch: text }} narrow=${true} /></label>`)}</section>`;
}

const label = (action, plan) => {
  const verb = { restore: "Restore", undo: "Undo", redo: "Redo", revert: "Revert" }[action.verb];
  return plan && plan.files.length ? `${verb} ${paths(plan.files) ? count(paths(plan.files), "path", "paths") : directories(plan.files)}` : verb;
};

// NameDialog names a checkpoint.
export function NameDialog({ project, row, close, done }) {
  const [text, setText] = useState(row.name || "");
  const [error, setError] = useState(null);
  const box = useRef();
  useEffect(() => {
    box.current.showModal();
    box.current.querySelector("input").select();
  }, []);
  const save = async (e) => {
    e.preventDefault();
    try {
      const r = await post(`p/${project}/marks`, { id: row.id, name: e.target.elements.name.value.trim() });
      box.current.close();
      done(r.said);
    } catch (e) {
      setError(e);
    }
  };
  const said = text.trim(), fits = /^[0-9A-Za-z][\w.-]*$/.test(said);
  return html`<dialog class="plan" ref=${box} aria-labelledby="name-title" onClose=${close}><form onSubmit=${save}>
    <h2 id="name-title">Name ${row.n ? "checkpoint " + row.n : "this checkpoint"}</h2>
    <p><label>Name <input name="name" autocomplete="off" spellcheck=${false} value=${text} aria-describedby="name-rule" aria-invalid=${said && !fits ? "true" : undefined} onInput=${(e) => (setText(e.target.value), setError(null))} /></label></p>
    <p class=${"note" + (said && !fits ? " wrong" : "")} id="name-rule">Letters, digits, ".", "_" and "-"; a letter or digit first, and no blank.</p>
    ${error && html`<p class="warn" role="alert"><${Text} of=${error.message} />${error.hint && html`<br /><${Text} of=${error.hint} />`}</p>`}
    <ul class="facts"><li>${said && !fits ? "No checkpoint can have this name." : error ? "The name stays as it is." : said ? html`rewind restore <${Text} of=${said} most=${60} /> then goes there, and gc keeps it.` : row.name ? "The name is taken away; gc may remove the checkpoint one day." : "A name stands wherever a checkpoint is asked for."}</li>
      <li>Files and conversations stay as they are.</li></ul>
    <p class="note">Name it again for another name; an empty one takes it away.</p>
    <div class="buttons"><button type="button" onClick=${() => box.current.close()}>Cancel</button><button class="go" disabled=${said === (row.name || "")}>${said || !row.name ? "Name it" : "Take the name away"}</button></div>
  </form></dialog>`;
}
