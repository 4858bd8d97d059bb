// Stands in the page itself: it exchanges the one-time code of the address while the rest is still loaded, and lets that
// begin once the first text was handed on to be painted, or soon after where nothing is, as in a tab behind others. The rest
// is loaded from here on, and not as soon as the page's head is read: the browser compiles it beside what it reads and paints.
{
  const code = /^#(?:.*&)?code=(\w+)/.exec(location.hash)?.[1];
  if (code) {
    const project = /^\/p\/([0-9a-f]{32})(?:\/|$)/.exec(location.pathname)?.[1] || "";
    globalThis.rewindLogin = fetch("/api/v1/login", { method: "POST", body: JSON.stringify({ code, project }) });
    globalThis.rewindLogin.catch(() => {}); // whoever waits for it says so
  }
  const ahead = document.createElement("link");
  ahead.rel = "modulepreload";
  ahead.href = "/app.js";
  document.head.append(ahead);
  const app = () => import("/app.js").catch(failed); // once, however often it is asked for
  const failed = () => (document.querySelector("#app .wait").textContent = "The page could not be loaded: does rewind ui still run? Load it again, or run rewind ui again.");
  requestAnimationFrame(() => setTimeout(app));
  setTimeout(app, 100);
}
