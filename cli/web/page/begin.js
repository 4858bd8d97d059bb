// Stands in the page itself: it exchanges the one-time code of the address while the rest is still loaded, and lets that
// begin once the first text was handed on to be painted, or soon after where nothing is, as in a tab behind others.
{
  const code = /^#(?:.*&)?code=(\w+)/.exec(location.hash)?.[1];
  if (code) {
    const project = /^\/p\/([0-9a-f]{32})$/.exec(location.pathname)?.[1] || "";
    globalThis.rewindLogin = fetch("/api/v1/login", { method: "POST", body: JSON.stringify({ code, project }) });
    globalThis.rewindLogin.catch(() => {}); // whoever waits for it says so
  }
  const app = () => import("/app.js"); // once, however often it is asked for
  requestAnimationFrame(() => setTimeout(app));
  setTimeout(app, 100);
}
