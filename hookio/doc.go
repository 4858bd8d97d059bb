// Package hookio is the wire formats of coding agents: hook payloads in,
// decisions out.
//
//  1. Args reads the words after "rewind hook": an agent's name, or one of the
//     older action names.
//  2. Decode reads a payload from stdin to its end in bounded memory, detects
//     the agent, and gives one Event whatever the agent calls things.
//  3. Root says which directory the event is about.
//  4. Guard refuses a tool call that would write into the store, remove it, or
//     run rewind's own destructive commands.
//  5. A Response is what goes back to the agent: nearly always nothing.
//
// What is peculiar to one agent is in a file of its name: claude.go,
// droid.go, codex.go and so on. To add one:
//
//   - here: its constant and its adapter, in a file of its name, and a line in
//     adapters (agents.go), in the place that the order there asks for. Fill in
//     what differs: how it is recognised (transcript, variable), its words
//     for events, tools and members of the payload, and what settle has to put
//     right. Payloads that were seen are cases of TestDecode, a transcript's
//     path one of TestDetectEveryAgent.
//   - in register: its Client, in a file of its name, and a line in clients
//     (client.go): which files it reads, into which ours go (Ours), events and
//     matchers, and the form of a handler with the unit of its time-out; or the
//     text of an extension. The tests there and the commands of cli run over all.
//   - in engine/transcript: its format, in a file of its name, and a line in the
//     table of agent.go, if its conversations are understood.
//
// All but Decode's reading are pure functions, safe for concurrent
// use. Nothing here trusts its input: payloads and commands may hold
// anything, and never make a function panic or allocate without bound.
package hookio
