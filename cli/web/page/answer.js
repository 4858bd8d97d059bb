// An answer of the server that a place waits for.
import { html, useState, useEffect } from "./html.js";
import { get } from "./api.js";
import { Text } from "./text.js";

// useAnswer asks; what it knew stays while it asks again because of news. Without a path it does not ask.
export function useAnswer(path, args, news) {
  const [v, setV] = useState({});
  const key = path + JSON.stringify(args);
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    get(path, args, stop.signal).then((answer) => setV({ key, answer }), (error) => error.name !== "AbortError" && setV({ key, error }));
    return () => stop.abort();
  }, [key, news]);
  return v.key === key ? v : {};
}

export const Wait = ({ v }) => (v.error ? html`<p class="warn" role="alert"><${Text} of=${v.error.message} />${v.error.hint && html` (<${Text} of=${v.error.hint} />)`}</p>` : html`<p class="wait">…</p>`);
