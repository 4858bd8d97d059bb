// Stands in the page itself: it exchanges the one-time code of the address while the rest is still loaded.
{
  const code = /^#(?:.*&)?code=(\w+)/.exec(location.hash)?.[1];
  if (code) {
    const project = /^\/p\/([0-9a-f]{32})$/.exec(location.pathname)?.[1] || "";
    globalThis.rewindLogin = fetch("/api/v1/login", { method: "POST", body: JSON.stringify({ code, project }) });
    globalThis.rewindLogin.catch(() => {}); // whoever waits for it says so
  }
}
