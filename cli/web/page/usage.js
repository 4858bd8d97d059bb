// What takes the space of the store, and the attempts at a prompt.
import { html } from "./html.js";
import { useAnswer, Wait } from "./answer.js";
import { Text, Path, Changes, age, size, count, raw, when } from "./text.js";

const KINDS = { packs: "contents and records", manifests: "tables", head: "stat cache", other: "everything else" };

export function Space({ project, rows, news, goTo, onFile }) {
  const v = useAnswer(`p/${project}/usage`, {}, news);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const known = new Map(rows.map((r) => [r.id, r])), s = v.answer.stats;
  const row = (g) => {
    const by = g.by || (known.has(g.id) && { id: g.id, n: known.get(g.id).n, why: known.get(g.id).why, text: known.get(g.id).text });
    return by ? html`<button class="link" onClick=${() => goTo(by.id)}><${Text} of=${[by.n, by.why, by.text].filter(Boolean).join(" ")} most=${120} /></button>` : g.id.slice(0, 8);
  };
  return html`<h2>What takes the space</h2>
    <p class="sum"><span>${size(Object.values(s.bytes).reduce((n, v) => n + v, 0))} on disk</span><span class="of">${size(s.raw_bytes)} of content in ${count(s.checkpoints, "checkpoint", "checkpoints")}</span></p>
      <p class="note">${Object.entries(s.bytes).sort((a, b) => b[1] - a[1]).map(([k, n]) => `${KINDS[k] || k} ${size(n)}`).join(" · ")}. <code>rewind gc --dry-run</code> says what gc would remove.</p>
    <div class="space-tables"><section><h3>What brought most of it</h3>
      <table class="list grown"><thead><tr><th>Stored</th><th>By</th><th>Largest file</th></tr></thead><tbody>${v.answer.rows.map((g) => html`<tr><td class="short">${size(g.bytes)}</td><td>${row(g)}</td>
        <td><button class="link" onClick=${() => onFile(raw(g.file))}><span class="path"><${Path} of=${g.file} /></span></button> <span class="note short">${size(g.size)}</span></td></tr>`)}</tbody></table></section>
    <section><h3>Files that take most, with all their versions</h3>
      <table class="list"><thead><tr><th>Stored</th><th>Versions</th><th>File</th></tr></thead><tbody>${s.largest.map((f) => html`<tr><td class="short">${size(f.bytes)}</td><td>${f.versions}</td><td><button class="link" onClick=${() => onFile(raw(f))}><span class="path"><${Path} of=${f} /></span></button></td></tr>`)}</tbody></table></section></div>`;
}

// beside says what others wrote beside an attempt.
const beside = (a) => [
  a.mixed && "Another attempt was at work in the same tree, so this is not its work alone.",
  a.others > 0 && count(a.others, "more path", "more paths") + " that only you or other sessions changed meanwhile " + (a.others === 1 ? "is" : "are") + " not counted.",
  a.others_also > 0 && a.changes && a.changes.lines_added + a.changes.lines_deleted > 0 && "Lines that you or other sessions wrote in the same files are counted, too.",
].filter(Boolean);

// Attempts are those at the prompt of a row, or at the newest prompt that was tried more than once.
export function Attempts({ project, id, news, goTo, compare, restore }) {
  const v = useAnswer(`p/${project}/attempts`, { id }, news);
  if (!v.answer) return html`<${Wait} v=${v} />`;
  const { base, at, at_base, attempts } = v.answer;
  if (!attempts.length) return html`<h2>Attempts</h2><p class="note">No prompt was tried more than once. Restore to a prompt, and type it again: both attempts are then here, side by side.</p>`;
  const end = (a) => (a.now ? "@" : a.end && a.end.id);
  const both = (a, o) => compare(...[a, o].sort((x, y) => x.n - y.n).map(end));
  return html`<h2>Attempts at “<${Text} of=${base.prompt} most=${120} />”</h2>
    <p class="note">${attempts.length === 1 ? "This prompt was tried once: there is no other attempt to compare it with." : at ? `The files are those of attempt ${at}.` : at_base ? "The files are as they were before the prompt." : "The files are of none of them."} What each changed is counted since before the first.</p>
    <div class="attempts">${attempts.map((a, i) => {
      const others = end(a) ? attempts.filter((o) => o !== a && end(o)) : [];
      return html`<section class=${"affected" + (a.current ? " current" : "")} key=${a.n}><h3>${a.n}. <${Text} of=${a.prompt} most=${200} /></h3>
      <p class="facts-line"><span><${Text} of=${[a.agent, a.session_id && "session " + a.session_id.slice(0, 8)].filter(Boolean).join(", ")} /></span><time datetime=${a.began}>${when(a.began)}</time><span>${age(a.began)} ago</span><span>${count(a.prompts, "prompt", "prompts")}</span></p>
      <p>${a.changes ? html`${count(a.changes.added + a.changes.modified + a.changes.deleted, "file", "files")} <${Changes} of=${a.changes} />, ${a.changes.lines_added + a.changes.lines_deleted === 1 ? "line" : "lines"} <span class="plus">+${a.changes.lines_added}</span> <span class="minus">−${a.changes.lines_deleted}</span>` : "What it changed is not known."}</p>
      ${beside(a).map((text) => html`<p class="note">${text}</p>`)}
      <div class="buttons"><button title="Show its prompt in the timeline" onClick=${() => goTo(a.checkpoint.id)}>Show</button>${others.length > 1 ? html`<select aria-label=${"Compare attempt " + a.n + " with another"} value="" onChange=${(e) => both(a, others[e.target.selectedIndex - 1])}><option value="">Compare with…</option>${others.map((o) => html`<option value=${o.n}>attempt ${o.n}</option>`)}</select>` : i > 0 && others.map((o) => html`<button onClick=${() => both(a, o)}>Compare with attempt ${o.n}</button>`)}
        ${restore && !a.current && a.end && html`<button class="go" onClick=${() => restore(a.end.id)}>Restore its end…</button>`}</div></section>`;
    })}</div>`;
}
