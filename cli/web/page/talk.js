// A conversation, the newest page first; tool calls are folded, with the code that each left beside it.
import { html, useState, useEffect, useRef } from "./html.js";
import { get } from "./api.js";
import { Text, age } from "./text.js";

export function Talk({ project, id, goTo }) {
  const [talk, setTalk] = useState(null);
  const [error, setError] = useState(null);
  const end = useRef();
  useEffect(() => {
    const stop = new AbortController();
    setTalk(null);
    setError(null);
    get(`p/${project}/talk`, { id }, stop.signal).then((t) => {
      setTalk(t);
      requestAnimationFrame(() => end.current && (end.current.parentNode.scrollTop = end.current.offsetTop));
    }, (e) => e.name !== "AbortError" && setError(e));
    return () => stop.abort();
  }, [project, id]);
  if (error) return html`<p class="note" role="alert"><${Text} of=${error.message} /></p>`;
  if (!talk) return html`<p class="wait">…</p>`;
  if (!talk.messages.length) return html`<p class="note">No conversation is held here.</p>`;
  const earlier = async () => {
    const more = await get(`p/${project}/talk`, { id, before: talk.messages[0].at });
    setTalk({ messages: [...more.messages, ...talk.messages], earlier: more.earlier });
  };
  return html`<div class="talk" tabindex="0" aria-label="Conversation">
    ${talk.earlier && html`<p class="note"><button onClick=${earlier}>Earlier</button></p>`}
    ${talk.messages.map((m) => html`<article key=${m.at} class=${m.prompt ? "said person" : "said"}>
      ${m.parts.map((p) => html`<${Part} p=${p} prompt=${m.prompt} time=${m.time} goTo=${goTo} />`)}
      ${m.cut && html`<p class="note">A text was longer; rewind cat --transcript has all of it.</p>`}
    </article>`)}
    <div ref=${end}></div>
  </div>`;
}

function Part({ p, prompt, time, goTo }) {
  if (p.kind === "words")
    return html`<div class=${p.person ? "words person" : "words"}>${prompt && html`<span class="who" title=${time}>you, ${age(time)} ago</span>`}<p><${Text} of=${p.text} /></p></div>`;
  if (p.kind === "thought") return html`<details class="thought"><summary>thought</summary><p><${Text} of=${p.text} /></p></details>`;
  if (p.kind === "call")
    return html`<div class="call"><details><summary><b><${Text} of=${p.tool} most=${60} /></b> <${Text} of=${(p.about || "").split("\n")[0]} most=${200} /></summary><pre><${Text} of=${pretty(p.text)} /></pre></details>
      ${p.row && html`<button class="link" title="The code at this call" onClick=${() => goTo(p.row)}>code</button>`}</div>`;
  return html`<details class=${"answer" + (p.failed ? " failed" : "")}><summary>${p.failed ? "failed" : "answer"} <${Text} of=${p.text.split("\n")[0]} most=${120} /></summary><pre><${Text} of=${p.text} /></pre></details>`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).replaceAll("\\n", "\n");
  } catch {
    return text;
  }
}
