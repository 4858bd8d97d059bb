// Small parts that several places have.
import { html, useState, useEffect, useRef } from "./html.js";
import { Text } from "./text.js";

// Copy is a button that puts a text, or what a function gives, on the clipboard. Where the browser does not allow that, the text
// is shown to be copied by hand.
export function Copy({ text, title, children }) {
  const [done, setDone] = useState("");
  const [shown, setShown] = useState("");
  useEffect(() => {
    if (!done) return;
    const soon = setTimeout(() => setDone(""), 2000);
    return () => clearTimeout(soon);
  }, [done]);
  const copy = async () => {
    let t;
    try {
      t = await (typeof text === "function" ? text() : text);
      await navigator.clipboard.writeText(t);
      setDone("Copied");
    } catch (e) {
      t ? setShown(t) : setDone(e.told || "It cannot be read");
    }
  };
  // What it says for a while lies over its label: nothing beside it moves.
  return html`<button class="quiet copy" title=${title} onClick=${copy}><span class=${done ? "covered" : undefined}>${children}</span><span class=${done ? "over" : "hidden"} role="status">${done}</span></button>
    ${shown && html`<${ByHand} text=${shown} close=${() => setShown("")} />`}`;
}

function ByHand({ text, close }) {
  const box = useRef();
  useEffect(() => (box.current.showModal(), box.current.querySelector("textarea").select()), []);
  return html`<dialog class="plan by-hand" ref=${box} aria-labelledby="by-hand" onClose=${close} onKeyDown=${(e) => e.stopPropagation()}><h2 id="by-hand">Copy it by hand</h2>
    <p class="note">The browser does not let this page use the clipboard.</p><textarea readonly rows="3" aria-label="What is copied" value=${text} onFocus=${(e) => e.target.select()} />
    <div class="buttons"><button class="copy" onClick=${() => box.current.close()}>Close</button></div></dialog>`;
}

// More is a menu of what is done less often. It closes with a choice, with Escape and with a click elsewhere; what says that
// it was copied stays.
export function More({ children }) {
  const box = useRef();
  const close = (back) => {
    if (!box.current?.open) return;
    box.current.open = false;
    if (back) box.current.querySelector("summary").focus();
  };
  useEffect(() => {
    const away = (e) => !box.current.contains(e.target) && close();
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, []);
  const key = (e) => {
    if (!box.current.open || e.ctrlKey || e.metaKey || e.altKey) return;
    const all = [...box.current.querySelectorAll("summary, .menu > button")], last = all.length - 1, now = all.indexOf(document.activeElement);
    const to = { ArrowDown: Math.min(last, now + 1), ArrowUp: Math.max(0, now - 1), Home: 1, End: last }[e.key];
    if (to !== undefined) all[to].focus();
    else if (e.key === "Escape") close(true);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  // Before the choice itself: a dialog that it opens gives the focus back to where it was.
  const chosen = (e) => e.target.closest("button:not(.copy)") && close(true);
  return html`<details class="more" ref=${box} onKeyDown=${key}><summary>More</summary><div class="menu" onClickCapture=${chosen}>${children}</div></details>`;
}

const KEY = "rewind-columns"; // of localStorage: how wide a person made the columns
const STEP = 24; // px of a key
const LEAST = 160; // px of a column

function widths() {
  try {
    const v = JSON.parse(localStorage.getItem(KEY) || "{}");
    return Object.fromEntries(["left", "middle"].filter((name) => v[name] >= LEAST).map((name) => [name, Math.round(v[name])]));
  } catch {
    return {}; // whatever stands there
  }
}

// restored are the columns as they were left, as a style.
export const restored = () => Object.fromEntries(Object.entries(widths()).map(([name, px]) => ["--" + name, px + "px"]));

// Split is the line between two columns. It moves by the mouse and by the arrow keys; Enter or a double click gives both
// their usual width. Its name is that of the column before it.
export function Split({ name, label }) {
  const ref = useRef();
  const [now, setNow] = useState(0); // percent of the window, for who cannot see it
  const set = (px) => {
    const all = ref.current.parentElement, v = widths();
    if (px === null) delete v[name];
    else v[name] = Math.max(LEAST, Math.min(px, all.clientWidth - 2.5 * LEAST));
    if (px === null) all.style.removeProperty("--" + name);
    else all.style.setProperty("--" + name, v[name] + "px");
    localStorage.setItem(KEY, JSON.stringify(v));
    told();
  };
  const wide = () => ref.current.previousElementSibling.getBoundingClientRect().width;
  const told = () => setNow(Math.round((100 * wide()) / innerWidth));
  const key = (e) => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[e.key];
    if ((!by && e.key !== "Enter") || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    set(by ? wide() + by : null);
  };
  return html`<div class="split" ref=${ref} role="separator" tabindex="0" aria-orientation="vertical" aria-label=${label} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${now} onFocus=${told} onKeyDown=${key}
    onDblClick=${() => set(null)} onPointerDown=${(e) => (e.preventDefault(), ref.current.setPointerCapture(e.pointerId))}
    onPointerMove=${(e) => ref.current.hasPointerCapture(e.pointerId) && set(e.clientX - ref.current.previousElementSibling.getBoundingClientRect().left)} />`;
}

// Moved says where git's HEAD went. On the same branch, where it is a commit mostly, it is a fact and no warning.
export function Moved({ of }) {
  const { from, to, text } = of, at = (head) => head.commit.slice(0, 8);
  if (from.branch && from.branch === to.branch && from.commit && to.commit) return html`<p class="note">Git: <${Text} of=${from.branch} /> went from <code>${at(from)}</code> to <code>${at(to)}</code>.</p>`;
  return html`<p class="moved"><b>HEAD moved.</b> <${Text} of=${text} />.</p>`;
}

const kinds = { png: "png", jpg: "jpeg", jpeg: "jpeg", gif: "gif", webp: "webp", avif: "avif", bmp: "bmp", ico: "x-icon" };

// pictured is the type of a file that a browser shows as a picture; nothing for others. What can hold a script is none.
export const pictured = (path) => kinds[/\.(\w+)$/.exec(path)?.[1].toLowerCase()];

// Pictures are a file before and after. of(side) gives its bytes.
export function Pictures({ path, status, of }) {
  return html`<div class="pictures">${["old", "new"].filter((side) => status !== (side === "old" ? "A" : "D")).map((side) => html`<${Picture} key=${side} label=${side === "old" ? "before" : "after"} type=${pictured(path)} load=${() => of(side)} />`)}</div>`;
}

function Picture({ label, type, load }) {
  const [url, setURL] = useState("");
  const [said, setSaid] = useState("…");
  useEffect(() => {
    let live = true;
    const read = async () => {
      const blob = await load(), reader = new FileReader();
      reader.onload = () => live && setURL(`data:image/${type};base64,` + reader.result.split(",")[1]);
      reader.onerror = () => live && setSaid("It cannot be read.");
      reader.readAsDataURL(blob);
    };
    read().catch((e) => live && setSaid(e.message + "."));
    return () => (live = false);
  }, []);
  const size = (e) => setSaid(`${e.target.naturalWidth} × ${e.target.naturalHeight}`);
  return html`<figure><figcaption>${label} <span class="note">${said}</span></figcaption>${url && html`<img src=${url} alt=${label} onLoad=${size} onError=${() => (setURL(""), setSaid("It is no picture that this browser can show."))} />`}</figure>`;
}
