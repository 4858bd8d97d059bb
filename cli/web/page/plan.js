// A plan: what would happen, before it does; then whether it did.
import { html, useState, useEffect, useRef } from "./html.js";
import { post } from "./api.js";
import { Text } from "./text.js";

export function Plan({ project, action, close, done }) {
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [half, setHalf] = useState(action.half || "both");
  const [conflicts, setConflicts] = useState("keep");
  const box = useRef();
  useEffect(() => {
    box.current.showModal();
  }, []);
  useEffect(() => {
    setPlan(null);
    setError(null);
    post(`p/${project}/plans`, { ...action, half, conflicts }).then(setPlan, setError);
  }, [project, action, half, conflicts]);
  const apply = async () => {
    if (busy) return; // not disabled meanwhile: it would lose the focus
    setBusy(true);
    try {
      const r = await post(`p/${project}/plans/${plan.id}/apply`);
      box.current.close(); // the focus goes back to where it was
      done(r.said);
    } catch (e) {
      if (e.status === 409 && e.body.files) setPlan(e.body);
      else setError(e);
    }
    setBusy(false);
  };
  const groups = ["delete", "replace", "mode", "create"].map((a) => [a, plan ? plan.files.filter((f) => f.action === a) : []]).filter(([, l]) => l.length);
  return html`<dialog class="plan" ref=${box} aria-labelledby="plan-title" onClose=${close}>
    <h2 id="plan-title">${plan ? html`<${Text} of=${plan.title} />` : "Plan"}</h2>
    ${action.verb === "restore" && !(action.paths || []).length && html`<div class="halves" role="radiogroup" aria-label="What is restored">
      ${[["both", "Files and conversation"], ["code", "Files"], ["talk", "Conversation"]].map(([v, label]) => html`<label><input type="radio" name="half" value=${v} checked=${half === v} onChange=${() => (setPlan(null), setHalf(v))} /> ${label}</label>`)}
    </div>`}
    ${action.verb === "revert" && html`<div class="halves" role="radiogroup" aria-label="Where others built on it">
      ${[["keep", "Keep what others built on"], ["undo", "Take that back too"], ["markers", "Mark both"]].map(([v, label]) => html`<label><input type="radio" name="conflicts" value=${v} checked=${conflicts === v} onChange=${() => (setPlan(null), setConflicts(v))} /> ${label}</label>`)}
    </div>`}
    ${plan && plan.changed && html`<p class="warn" role="alert"><${Text} of=${plan.changed} /></p>`}
    ${error && html`<p class="warn" role="alert"><${Text} of=${error.message} />${error.hint && html`<br /><${Text} of=${error.hint} />`}</p>`}
    ${plan && html`<ul class="facts">${plan.facts.map((f) => html`<li><${Text} of=${f} /></li>`)}</ul>
      ${groups.map(([a, list]) => html`<details open=${list.length <= 12}><summary>${a} ${list.length}</summary><ul>${list.slice(0, 1000).map((f) => html`<li class=${"act-" + a}><${Text} of=${f.path} /></li>`)}</ul></details>`)}
      ${plan.notes.map((n) => html`<p class="note"><${Text} of=${n} /></p>`)}`}
    ${!plan && !error && html`<p class="wait">…</p>`}
    <div class="buttons"><button onClick=${() => box.current.close()}>Cancel</button>
      <button class="go" disabled=${!plan || !plan.question} onClick=${apply}>${plan && !plan.question ? "Nothing to do" : label(action, plan)}</button></div>
  </dialog>`;
}

const label = (action, plan) => {
  const verb = { restore: "Restore", undo: "Undo", redo: "Redo", revert: "Revert" }[action.verb];
  return plan && plan.files.length ? `${verb} ${plan.files.length} ${plan.files.length === 1 ? "path" : "paths"}` : verb;
};
