// Checkpoints for opencode. All that this does is to tell rewind what happens;
// what to do about it is decided there. Nothing of it reaches the model, and
// whatever goes wrong with it, opencode goes on.
import { spawn } from "node:child_process"

const PROGRAM = "rewind"

// LIMIT is how long opencode waits, in milliseconds: rewind itself goes on
// detached after two seconds.
const LIMIT = 10000

// tell runs rewind with one event. It gives the reason where a tool call is
// refused, "" for everything else.
function tell(directory, event) {
  return new Promise((done) => {
    let timer
    const end = (reason) => {
      clearTimeout(timer)
      done(reason)
    }
    try {
      const child = spawn(PROGRAM, ["hook", "opencode"], { cwd: directory, stdio: ["pipe", "ignore", "pipe"] })
      let said = ""
      timer = setTimeout(() => {
        child.kill()
        end("")
      }, LIMIT)
      child.on("error", () => end(""))
      child.stdin.on("error", () => {})
      child.stderr.on("data", (data) => (said += data))
      child.on("close", (code) => end(code === 2 && event.event === "pre-tool" ? said.trim() : ""))
      child.stdin.end(JSON.stringify({ cwd: directory, ...event }))
    } catch {
      end("")
    }
  })
}

// typed is what the person wrote: not what opencode or a plugin added.
function typed(parts) {
  const text = (parts ?? []).filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text)
  return text.join("\n")
}

export const Rewind = async ({ directory, worktree }) => {
  const root = directory || worktree || process.cwd()
  const children = new Set() // sessions of subagents
  const inside = (session) => (children.has(session) ? { agent_id: session } : {})
  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) children.add(info.id)
      else if (event.type === "session.created") await tell(root, { event: "session-start", session_id: info?.id, source: "startup" })
      else if (event.type === "session.idle" && !children.has(sessionID)) await tell(root, { event: "stop", session_id: sessionID })
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return
      await tell(root, { event: "prompt", session_id: input.sessionID, prompt_id: output.message?.id, prompt: typed(output.parts) })
    },
    "tool.execute.before": async (input, output) => {
      const refused = await tell(root, {
        event: "pre-tool", session_id: input.sessionID, ...inside(input.sessionID),
        tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args,
      })
      if (refused) throw new Error(refused)
    },
    "tool.execute.after": async (input, output) => {
      await tell(root, {
        event: "post-tool", session_id: input.sessionID, ...inside(input.sessionID),
        tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args, exit_code: output?.metadata?.exit,
      })
    },
  }
}
