// Package transcript is what rewind knows about agents' conversations: how
// their files are read, what a turn is, which bytes of a growing file are new,
// and how a session is cut at an earlier point.
//
//  1. Read streams a transcript (JSON lines) through a scanner that looks at
//     the few keys it needs, and gives an Index: one Line per line, with its
//     place in the file and in the tree of events.
//  2. Index answers the conversation's current end (Leaf), what leads there
//     (Chain), which of it are the person's prompts (Prompts), and where to
//     cut: before the n-th last prompt, before a prompt id, before a tool call.
//  3. Capture stores what a file gained since the last time: Plan compares a
//     Cursor with the file and names the byte range that is new; the bytes and
//     a List of all ranges held go to a Store. A segment may have any length; conversation
//     cuts a large one into chunks (commit.ChunkedSize). Open puts them together again.
//  4. Cut selects the lines that lead to an event; Fork writes them as a new
//     session that the agent lists and loads, Linear as the new content of the
//     old one.
//  5. Sessions and Ancestors say which sessions a project has and which came
//     from which; RunningCheck looks for a live agent behind a session.
//
// The formats are the agents' own and change between versions: unknown lines
// are kept as bytes and otherwise ignored, broken ones are skipped, and a file
// in which nothing can be understood gives a FormatError, which means: restore
// the code only. What is peculiar to an agent is in a file of its name; the
// table of formats is in agent.go.
//
// The package knows no store: bytes come and go through Store. An Index is
// immutable and safe for concurrent use.
package transcript
