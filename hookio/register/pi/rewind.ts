// rewind's extension for pi: checkpoints of the files at every prompt and turn, and menus in /fork and
// /tree that put them back. It decides nothing: it tells `rewind hook pi` what happened (one JSON object
// on stdin) and does what the answer (one JSON object on stdout) says. See docs/PI.md of rewind.
//
// Nothing here may throw or hang: an exception in tool_call blocks the tool, and pi waits for handlers.
// `rewind config --register-hooks --agent pi` installs this file, and puts the program's path in.
import { spawn } from "node:child_process";

const VERSION = 3;
const PROGRAM = "rewind";
const MESSAGE = "rewind"; // custom type of what the model is told

const EVENT_MS = 6_000; // the program bounds a checkpoint itself at 2 s, and goes on detached
const LOOK_MS = 60_000; // a preview of a large project, for which a person waits
const RESTORE_MS = 1_800_000;
const KILL_MS = 30_000; // from when nobody waits any more
const MAX_WORDED = 5_000; // entries that the list of points is told of
const QUEUE_MS = 2_000; // without any event, after which the agent's end is not waited for any longer
const REST_MS = 60_000; // after the program hung, events do not wait for it again

type Answer = {
  notices?: { text: string; level?: string; once?: string }[];
  footer?: string;
  state?: string;
  title?: string;
  options?: string[];
  points?: { entry: string; label: string }[];
  cancel?: boolean;
  block?: string;
  inform?: string;
  off?: boolean;
};

// What outlives a reload of the extension, which pi makes at every fork.
// owner is the copy of this extension that asks, of two that are loaded; over: its session is shut down.
type Shared = { told: Set<string>; restUntil: number; owner?: { session: string; copy: symbol; over?: boolean } };
const shared: Shared = ((globalThis as any)[Symbol.for("rewind.pi")] ??= { told: new Set(), restUntil: 0 });

/** Runs the program once; undefined with a reason where there is no answer. Never throws. */
function run(request: object, limit: number): Promise<{ answer?: Answer; failed?: string; hung?: boolean }> {
  return new Promise((resolve) => {
    let child: any;
    let out = "";
    let size = 0;
    try {
      child = spawn(PROGRAM, ["hook", "pi"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    } catch (error: any) {
      return resolve({ failed: String(error?.message ?? error) });
    }
    const timer = setTimeout(() => {
      resolve({ failed: `no answer in ${limit / 1000} s`, hung: true });
      child.unref();
      setTimeout(() => child.kill("SIGKILL"), KILL_MS).unref();
    }, limit);
    const end = (result: { answer?: Answer; failed?: string }) => {
      clearTimeout(timer);
      resolve(result);
    };
    child.on("error", (error: any) => end({ failed: error?.code === "ENOENT" ? `${PROGRAM} is not there` : String(error?.message ?? error) }));
    child.stdin.on("error", () => {}); // it ended without reading: close tells
    child.stdout.setEncoding("utf8");
    child.stdout.on("error", () => {});
    child.stdout.on("data", (text: string) => {
      size += text.length;
      if (size < 16 << 20) out += text;
    });
    child.on("close", (code: number | null, signal: string | null) => {
      try {
        const answer = JSON.parse(out);
        if (answer && typeof answer === "object" && !Array.isArray(answer)) return end({ answer });
      } catch {
        // said below
      }
      end({ failed: code || signal ? `${PROGRAM} ended with ${signal ?? code}` : `${PROGRAM} does not know pi: is it older than its extension?` });
    });
    child.stdin.end(JSON.stringify(request));
  });
}

export default function (pi: any) {
  const copy = Symbol("rewind");
  let from: string | undefined; // file of the session that this one was forked from
  let off = false; // nothing is captured in this session
  let state: string | undefined; // checkpoint of the files as they were last seen
  let mark: string | null | undefined; // the entry before those that are not bound; undefined: no prompt yet
  let telling: Promise<unknown> = Promise.resolve(); // what the program is still to be told, in its order
  let working = false; // the agent has begun, and its end was not reported yet
  let asking = 0; // requests about the agent's work that wait for their answer

  function notify(ctx: any, text: string, level = "info") {
    try {
      if (ctx.hasUI) ctx.ui.notify(text, level);
    } catch {
      // an old context after a switch of sessions: there is nobody to tell
    }
  }

  function show(ctx: any, answer: Answer) {
    for (const n of answer.notices ?? []) {
      if (n.once && shared.told.has(n.once)) continue;
      if (n.once) shared.told.add(n.once);
      notify(ctx, n.text, n.level ?? "info");
    }
    try {
      if (typeof answer.footer === "string" && ctx.hasUI) ctx.ui.setStatus("rewind", answer.footer || undefined);
    } catch {
      // as above
    }
    if (answer.state) state = answer.state;
    if (answer.off) off = true;
  }

  /** Asks the program; undefined where it does not answer, which is said once. */
  async function ask(kind: string, ctx: any, more: object, limit = EVENT_MS): Promise<Answer | undefined> {
    if (limit === EVENT_MS && off) return undefined;
    const sessions = ctx.sessionManager;
    const parent = sessions.getHeader?.()?.parentSession ?? from;
    const has = parent ? sessions.getEntries().map((e: any) => e.id) : undefined;
    const request = {
      extension: VERSION, kind, cwd: ctx.cwd, session: sessions.getSessionId(), file: sessions.getSessionFile(), parent,
      ui: !!ctx.hasUI, state, has, ...more,
    };
    await telling;
    const resting = Date.now() < shared.restUntil;
    if (limit === EVENT_MS && resting) return undefined;
    if (limit === LOOK_MS && resting) limit = EVENT_MS;
    const { answer, failed, hung } = await run(request, limit);
    if (hung) shared.restUntil = Date.now() + REST_MS;
    if (answer) show(ctx, answer);
    else if (!shared.told.has("failed")) {
      shared.told.add("failed");
      notify(ctx, `rewind: no checkpoints: ${failed}`, "warning");
    }
    return answer;
  }

  /** Asks what no answer is waited for: pi does not wait, whatever is asked later does. */
  function tell(kind: string, ctx: any, more: object) {
    const asked = ask(kind, ctx, more).catch(() => {}); // it waits for what was told before
    telling = telling.then(() => asked);
  }

  /** A request about what the agent did. */
  async function worked(kind: string, ctx: any) {
    asking++;
    try {
      await ask(kind, ctx, { entries: fresh(ctx) });
    } finally {
      asking--;
    }
  }

  /**
   * Waits until the end of an agent that is at rest was reported. Up to pi 0.73 the agent's events wait in a queue, an answer is
   * in the session only once the queue has come to it, and pi ends, or begins with the next prompt, without waiting for that.
   */
  async function settled(ctx: any) {
    for (let until = Date.now() + QUEUE_MS; working && ctx.isIdle?.() !== false && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (asking) until = Date.now() + QUEUE_MS;
    }
  }

  const theirs = (e: any) => e.customType !== MESSAGE;
  const edits = (event: any) => !!event.input?.path && /edit|write|patch/i.test(String(event.toolName ?? ""));
  // Other calls that can write: what such a call leaves is the agent's while it runs. Of a tool that may be waiting for the
  // person nothing is told.
  const runs = (event: any) => typeof event.input?.command === "string" || /^mcp_/.test(String(event.toolName ?? ""));
  const callOf = (event: any) => ({
    tool: event.toolName, call: event.toolCallId, command: String(event.input?.command ?? ""), path: String(event.input?.path ?? ""),
  });

  /** Entries of the branch since the mark, which moves to its end. */
  function fresh(ctx: any) {
    if (mark === undefined) return [];
    const branch = ctx.sessionManager.getBranch();
    let i = branch.length;
    while (i > 0 && branch[i - 1].id !== mark) i--;
    if (i === 0 && mark !== null) return []; // another branch: what is on it was bound when it came
    if (i < branch.length) mark = branch[branch.length - 1].id;
    return branch.slice(i).filter(theirs).map((e: any) => ({ id: e.id, type: e.type, role: e.message?.role }));
  }

  /** The session's newest entries and how each begins, for the list of points. */
  function worded(ctx: any) {
    return ctx.sessionManager.getEntries().slice(-MAX_WORDED).filter(theirs).map((e: any) => {
      const content = e.message?.content ?? e.content ?? e.summary ?? "";
      const parts = Array.isArray(content) ? content : [{ type: "text", text: String(content) }];
      const text = parts.map((p: any) => p?.text ?? "").join(" ").trim() || parts.map((p: any) => p?.name ?? "").join(" ").trim();
      return { id: e.id, type: e.type, role: e.message?.role, text: text.slice(0, 200) };
    });
  }

  /** Asks the person what is to become of the files, and does it. */
  async function menu(where: string, entry: string, ctx: any): Promise<{ cancel: true } | undefined> {
    if (!ctx.hasUI) return undefined; // the files stay as they are
    await settled(ctx);
    const look = await ask("options", ctx, { menu: where, entry }, LOOK_MS);
    if (!look?.options?.length) return undefined;
    const choice = await ctx.ui.select(look.title ?? "Restore options", look.options);
    if (choice === undefined) return { cancel: true };
    const done = await ask("apply", ctx, { menu: where, entry, choice }, RESTORE_MS);
    if (!done) notify(ctx, "rewind: the restore did not answer: `rewind status` says how the files are", "error");
    return !done || done.cancel ? { cancel: true } : undefined;
  }

  // Every handler of ours: nothing of it reaches pi but its result, and of two copies one is silent.
  function on(event: string, handler: (event: any, ctx: any) => Promise<any>) {
    pi.on(event, async (e: any, ctx: any) => {
      try {
        if (shared.owner && shared.owner.copy !== copy && event !== "session_start") return undefined;
        return await handler(e, ctx);
      } catch (error: any) {
        if (!shared.told.has("threw")) {
          shared.told.add("threw");
          notify(ctx, `rewind: ${event}: ${error?.message ?? error}`, "warning");
        }
        return undefined;
      }
    });
  }

  on("session_start", async (event, ctx) => {
    const session = ctx.sessionManager.getSessionId();
    if (shared.owner?.session === session && shared.owner?.copy !== copy && !shared.owner?.over) return; // loaded twice
    shared.owner = { session, copy };
    if (event.reason === "fork") from = event.previousSessionFile; // 0.73 leaves it out of the header of a fork at the first prompt
    await ask("session_start", ctx, { reason: event.reason });
  });

  on("session_shutdown", async (event, ctx) => {
    await settled(ctx);
    await ask("shutdown", ctx, { reason: event.reason });
    if (shared.owner?.copy === copy) shared.owner.over = true;
  });

  on("before_agent_start", async (event, ctx) => {
    await settled(ctx);
    working = true;
    // The entry of the prompt is not in the session yet: it is bound at the end of the turn.
    mark = ctx.sessionManager.getLeafId();
    state = undefined; // should this fail, no older state is taken for the prompt's
    const answer = await ask("prompt", ctx, { prompt: event.prompt });
    return answer?.inform ? { message: { customType: MESSAGE, content: answer.inform, display: true } } : undefined;
  });

  on("agent_start", async () => {
    working = true; // also where pi itself tries again
  });

  on("turn_end", (_event, ctx) => worked("turn_end", ctx));

  on("agent_end", async (_event, ctx) => {
    await worked("agent_end", ctx);
    working = false;
  });

  on("session_compact", async (event, ctx) => {
    if (event.compactionEntry) await ask("bind", ctx, { entries: [{ id: event.compactionEntry.id, type: "compaction" }] });
  });

  on("session_before_fork", (event, ctx) => menu("fork", event.entryId, ctx));

  on("session_before_tree", (event, ctx) => menu("tree", event.preparation.targetId, ctx));

  on("session_tree", async (event, ctx) => {
    if (event.summaryEntry) await ask("bind", ctx, { entries: [{ id: event.summaryEntry.id, type: "branch_summary" }] });
  });

  on("tool_call", async (event, ctx) => {
    const call = callOf(event);
    const at = Date.now();
    if (!edits(event) && !/rewind|\.agent|\brm\b|\bclean\b/.test(call.command) && !/rewind|\.agent/.test(call.path)) {
      if (runs(event)) tell("tool", ctx, { ...call, at });
      return undefined;
    }
    const answer = await ask("tool", ctx, { ...call, at });
    return answer?.block ? { block: true, reason: answer.block } : undefined;
  });

  // What an edit left is looked at before anybody else changes the file, as what it finds is before it; a turn's
  // end may be minutes away.
  on("tool_result", async (event, ctx) => {
    const end = { ...callOf(event), at: Date.now() + 1, failed: !!event.isError }; // a millisecond is no time: it had not ended before
    if (edits(event)) await ask("tool_end", ctx, end);
    else if (runs(event)) tell("tool_end", ctx, end);
    return undefined;
  });

  pi.registerCommand("rewind", {
    description: "The points of this session: look at one, and put the files back",
    handler: async (_args: string, ctx: any) => {
      try {
        await settled(ctx);
        const list = await ask("points", ctx, { entries: worded(ctx) }, LOOK_MS);
        if (!list?.points?.length) return;
        const labels = list.points.map((p) => p.label);
        const chosen = await ctx.ui.select(list.title ?? "Points", labels);
        const point = list.points[labels.indexOf(chosen)];
        if (point) await menu("rewind", point.entry, ctx);
      } catch (error: any) {
        notify(ctx, `rewind: ${error?.message ?? error}`, "warning");
      }
    },
  });
}
