// Package hook is the hook process: an agent's event on stdin, a decision on stdout, and the end in time whatever hangs.
//
// It never fails: what goes wrong is noted for status. Package hookio reads the agents' forms, engine/hook does the work;
// here are the process itself, the guard's look at the files, and the commands that a person types into the agent.
package hook
