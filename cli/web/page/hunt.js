// Somebody looks for the prompt after which something broke: they say of rows whether it was still good there, and
// the rows between are halved until one is left. Nothing is run here: who looks, tests.
import { html } from "./html.js";
import { Text } from "./text.js";
import { title } from "./timeline.js";

const changed = (r) => !r.changes || r.changes.added + r.changes.modified + r.changes.deleted > 0;

// between are the places of the rows that can be tried, newest first: those that stand for a state of their own. While
// there are prompts, only they.
export function between(rows, bad, good) {
  const all = [];
  for (let i = bad + 1; i < good; i++) if (rows[i].id !== "@" && rows[i].id[0] !== "#" && !rows[i].dim && changed(rows[i])) all.push(i);
  const prompts = all.filter((i) => rows[i].prompt);
  return prompts.length || rows[good].prompt ? prompts : all;
}

// Hunt says what comes next. hunt are the ids of what is known, { good, bad, home }; home is what was there before the
// first restore.
export function Hunt({ rows, row, hunt, set, goTo, setAction }) {
  const at = (id) => rows.findIndex((r) => r.id === id);
  const good = hunt.good ? at(hunt.good) : -1, bad = hunt.bad ? at(hunt.bad) : -1;
  const turned = good >= 0 && bad >= 0 && good <= bad; // rows are newest first
  const left = good >= 0 && bad >= 0 && !turned ? between(rows, bad, good) : null;
  const mark = (what) => {
    const next = { ...hunt, [what]: row.id };
    set(next);
    const g = at(next.good), b = at(next.bad);
    if (g < 0 || b < 0 || g <= b) return;
    const list = between(rows, b, g);
    goTo(rows[list.length ? list[list.length >> 1] : g].id);
  };
  const known = row && (row.id === hunt.good || row.id === hunt.bad);
  const testable = row && row.id[0] !== "#";
  const off = !row ? "Choose a row first." : !testable ? "A restore or an undo is no state to test: choose another row." : known ? `It is ${row.id === hunt.good ? "good" : "bad"} at this row already: choose another one.` : "";
  const name = (r) => html`<b><${Text} of=${title(r)} most=${100} /></b>`;
  const restore = html`<button disabled=${!testable || row.id === "@"} onClick=${() => setAction({ verb: "restore", id: row.id, half: "code" })}>Restore its files…</button>`;
  const found = left && !left.length && rows[good];
  const back = html`<button class=${found ? "go" : ""} onClick=${() => setAction({ verb: "restore", id: hunt.home, half: "code" })}>Back to where you began…</button>`;
  return html`<section class="hunt" aria-label="Find the turn that broke it">
    <p role="status">${turned ? html`It was good at ${name(rows[good])}, which is not older than where it is bad: mark another row.` : found ? html`It broke in ${name(found)}: the files beside are what it changed.` : left
      ? html`${left.length === 1 ? "One row is" : left.length + " rows are"} between: restore the files of the chosen one, test, and say what you found.` : html`Choose a row where it was still good${good >= 0 ? html` (${name(rows[good])})` : ""}, and one where it is bad${bad >= 0 ? html` (${name(rows[bad])})` : ", as now"}. A row stands for what was before it.`}</p>
    ${found && hunt.home && html`<p class="note">The files are those of your last try: go back to where you began first, and only that turn goes.</p>`}
    ${!found && off && html`<p class="note">${off}</p>`}
    <div class="buttons">${found && hunt.home && back}
      ${found ? html`<button class=${hunt.home ? "" : "go"} onClick=${() => (goTo(found.id), setAction({ verb: "revert", id: found.id }))}>Revert this turn…</button>`
      : html`${restore}<button disabled=${!!off} title=${off} onClick=${() => mark("good")}>It is good here</button><button disabled=${!!off} title=${off} onClick=${() => mark("bad")}>It is bad here</button>`}
      ${!found && hunt.home && back}
      <button class="link" onClick=${() => set(null)}>Stop the search</button></div>
  </section>`;
}
