// A conversation, the newest page first; tool calls are folded, with the way to the code that each left.
import { html, useState, useEffect, useLayoutEffect, useRef } from "./html.js";
import { prepared, get } from "./api.js";
import { flash, lead } from "./diff.js";
import { Text, age, plain } from "./text.js";
import { Words } from "./words.js";

const TRIES = 5; // earlier pages that are read in search of a call
const SAID = 40; // and of a message, of which it is known how far back it stands

// Talk is what was said up to the end of a row. call is one to be shown: { call, subagent }, another object for each time;
// where a subagent made it, the call that ran that one is shown. diffOf(call, subagent) gives what shows the code of a call, or nothing.
export function Talk({ project, id, stamp, call, said, diffOf, rowOf, goTo, plan }) {
  const [talk, setTalk] = useState(() => {
    const t = prepared(`p/${project}/talk`, { id });
    return t ? { ...t, id, fresh: true } : null;
  });
  const [error, setError] = useState(null);
  const [lost, setLost] = useState("");
  const box = useRef();
  const wanted = useRef(null);
  useLayoutEffect(() => { // before it is painted that a row is chosen
    const stop = new AbortController();
    if (talk && talk.fresh && talk.id === id) return void (talk.fresh = false); // given with the login
    setError(null);
    setLost("");
    get(`p/${project}/talk`, { id }, stop.signal).then((t) => setTalk({ ...t, id }), (e) => e.name !== "AbortError" && setError(e));
    return () => stop.abort();
  }, [project, id, stamp]);
  useLayoutEffect(() => {
    if (!talk || !box.current) return;
    const here = box.current.querySelector(".here");
    if (here) box.current.scrollTop = here.offsetTop - box.current.offsetTop - 6;
    else box.current.scrollTop = box.current.scrollHeight;
  }, [talk && talk.id]);
  const earlier = async () => {
    const more = await get(`p/${project}/talk`, { id, before: talk.messages[0].at });
    const from = box.current ? box.current.scrollHeight - box.current.scrollTop : 0;
    setTalk((t) => (t.id === id ? { ...t, messages: [...more.messages, ...t.messages], earlier: more.earlier } : t));
    requestAnimationFrame(() => box.current && (box.current.scrollTop = box.current.scrollHeight - from));
  };
  useEffect(() => {
    wanted.current = call ? { ...call, tries: TRIES } : said ? { said, tries: SAID } : null;
  }, [call, said]);
  useEffect(() => {
    const w = wanted.current;
    if (!w || !talk || talk.id !== id) return;
    const all = (what) => [...(box.current?.querySelectorAll(`[data-${what}]`) || [])];
    const at = w.said ? all("event").find((e) => e.dataset.event === w.said.event) : all("call").find((e) => e.dataset.call === w.call) || (w.subagent && all("subagent").find((e) => e.dataset.subagent === w.subagent));
    if (at && w.said) {
      wanted.current = null;
      at.querySelectorAll("details").forEach((d) => (d.open = true));
      if (at.closest("details")) at.closest("details").open = true;
      at.scrollIntoView({ block: "center" });
      lead(at);
      flash(at);
    } else if (at) {
      wanted.current = null;
      setLost(at.dataset.call === w.call ? "" : "A subagent made that change. This call ran it.");
      at.querySelector("details").open = true;
      at.scrollIntoView({ block: "nearest" });
      lead(at.querySelector("summary"));
      flash(at);
    } else if (talk.earlier && w.tries-- > 0 && !(w.said && talk.messages[0].at < w.said.at)) earlier().catch(setError);
    else {
      wanted.current = null;
      setLost(w.said ? "That message is further back than what is shown here." : w.subagent ? "A subagent made that call, which is not in this conversation." : "That call is not in this conversation.");
    }
  }, [call, said, talk]);
  if (error) return html`<p class="note" role="alert"><${Text} of=${error.message} /></p>`;
  if (!talk) return html`<p class="wait">…</p>`;
  const stale = talk.id !== id;
  if (!talk.messages.length) return html`<p class="note" aria-busy=${stale}>No conversation is held here.</p>`;
  const answers = new Map(talk.messages.flatMap((m) => m.parts.filter((p) => p.kind === "answer" && p.call).map((p) => [p.call, { ...p, event: m.event }])));
  const calls = new Set(talk.messages.flatMap((m) => m.parts.filter((p) => p.kind === "call").map((p) => p.call)));
  const shown = (m) => m.parts.filter((p) => !(p.kind === "answer" && calls.has(p.call))); // with its call
  return html`<div class=${stale ? "talk stale" : "talk"} tabindex="0" role="region" aria-label="Conversation" aria-busy=${stale} ref=${box}>
    ${lost && html`<p class="note" role="status">${lost}</p>`}
    ${talk.earlier && html`<p class="note"><button onClick=${earlier}>Earlier</button></p>`}
    ${talk.messages.map((m, i) => html`${m.since && !(talk.messages[i - 1] || {}).since && html`<p class="note since" key="since">since then; no checkpoint has it yet</p>`}${(shown(m).length > 0 || m.cut) && html`<article key=${m.at} data-event=${m.event || undefined} tabindex=${said && said.event === m.event ? -1 : undefined} class=${"said" + (m.prompt ? " person" : "") + (m.here ? " here" : "")}>
      ${plan && m.row && html`<span class="plans"><button tabindex="-1" title="Restore to before this prompt (r)" onClick=${() => plan(m.row, "restore")}>Restore…</button><button tabindex="-1" title="Revert what was done for it (v)" onClick=${() => plan(m.row, "revert")}>Revert…</button></span>`}
      ${shown(m).map((p) => html`<${Part} p=${p} answer=${p.kind === "call" ? answers.get(p.call) : null} prompt=${m.prompt} time=${m.time} diffOf=${diffOf} rowOf=${rowOf} goTo=${goTo} />`)}
      ${m.cut && html`<p class="note">A text was longer; rewind cat --transcript has all of it.</p>`}
    </article>`}`)}
    ${talk.partial && html`<p class="note since">More was said since then: the agent's own file has it.</p>`}
  </div>`;
}

// Answer is what a call gave; a message of its own where the call is not among those that are shown.
const Answer = ({ p }) => html`<details class=${"answer" + (p.failed ? " failed" : "")}><summary>${p.failed ? "failed" : p.kind} <${Text} of=${p.text.split("\n")[0]} most=${120} /></summary><pre><${Text} of=${p.text} /></pre></details>`;

function Part({ p, answer, prompt, time, diffOf, rowOf, goTo }) {
  if (p.kind === "words")
    return html`<div class=${p.person ? "words person" : "words"}>${prompt && html`<span class="who" title=${time}>you, ${age(time)} ago</span>`}<${Words} of=${p.text} person=${p.person} /></div>`;
  if (p.kind === "thought") return html`<details class="thought"><summary>thought</summary><p><${Text} of=${p.text} /></p></details>`;
  if (p.kind === "call") {
    const show = p.call && diffOf && diffOf(p.call, answer?.subagent);
    return html`<div class="call" data-call=${p.call || undefined} data-subagent=${answer?.subagent || undefined}><details class=${answer && answer.failed ? "failed" : ""}><summary title=${plain((p.about || "").slice(0, 300))}><${Given} tool=${html`<b><${Text} of=${p.tool} most=${60} /></b>`} text=${(answer && answer.failed ? "failed: " : "") + (p.about || "").split("\n")[0]} /></summary><pre><${Text} of=${pretty(p.text)} /></pre>${answer && html`<div data-event=${answer.event || undefined} tabindex="-1"><p class="who">${answer.failed ? "failed" : "answer"}</p><pre><${Text} of=${answer.text} /></pre></div>`}</details>
      <span class="file-links">${show && html`<button class="link" title="What this call changed" onClick=${show}>diff</button>`}
      ${p.row && (!rowOf || rowOf(p.row)) && html`<button class="link" title="The moment before this call" onClick=${() => goTo(p.row)}>code</button>`}</span></div>`;
  }
  return html`<${Answer} p=${p} />`;
}

// Given is a tool and what a call was given. Of a path, the beginning goes where there is no room: its name says which file it is.
function Given({ tool, text }) {
  const cut = /\s/.test(text) ? -1 : text.lastIndexOf("/");
  if (cut < 1) return html`${tool} <${Text} of=${text} most=${200} />`;
  return html`<span class="given">${tool}<span class="dirs"><${Text} of=${text.slice(0, cut)} most=${300} /></span><span class="base"><${Text} of=${text.slice(cut)} most=${200} /></span></span>`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).replaceAll("\\n", "\n");
  } catch {
    return text;
  }
}
