// Runs beside the page: a text in, for each line the lengths and classes of its pieces out.
import hljs from "./vendor/highlight.js";

// collect flattens what highlight.js found into pieces of text with a class.
function pieces(node, cls, out) {
  for (const child of node.children) {
    if (typeof child === "string") out.push([child, cls]);
    else pieces(child, (child.scope || cls || "").split(".")[0], out);
  }
  return out;
}

onmessage = ({ data }) => {
  let ranges = null;
  try {
    const found = hljs.highlight(data.text, { language: data.language, ignoreIllegals: true });
    ranges = [[]];
    for (const [text, cls] of pieces(found._emitter.root ?? found._emitter.rootNode, "", [])) {
      text.split("\n").forEach((part, i) => {
        if (i > 0) ranges.push([]);
        if (part) ranges[ranges.length - 1].push([part.length, cls]);
      });
    }
  } catch {
    ranges = null; // without colours, then
  }
  postMessage({ id: data.id, ranges });
};
