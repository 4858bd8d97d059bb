// Package session says which sessions of agents a project has, and which of them a command means.
//
//  1. List gives all sessions: those that hooks reported, those that checkpoints name, and those whose transcripts lie in
//     the agents' own directories.
//  2. Choose finds the session that a command means: by what the person typed (Named), by the environment, by the agent
//     that started the command, else by which sessions were at work in the last hour.
//  3. Beside is Choose for a save, which can also be of no session. Files compares the transcripts with what the store holds.
//
// Nothing is written here but which process a session runs in (NoteProcess). What a conversation contains, and where in it
// a checkpoint lies, is the matter of package conversation.
package session
