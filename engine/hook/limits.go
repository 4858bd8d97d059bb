package hook

import "time"

// The time limits of a hook, each longer than the one before it: CallTime, OpenTime, AnswerTime, WatchTime, and at last
// register.Seconds, after which the agent itself ends the hook.
const (
	// CallTime bounds a save within a hook, and its wait for locks. What it does not finish goes on in a detached process.
	CallTime = 2 * time.Second
	// endTime is that at a session's end, where all hooks together get 1.5 s.
	endTime = time.Second
	// OpenTime is when a hook gives up that has not found its project by then: a busy machine takes a second for what is done
	// in milliseconds, and nothing is left of a hook that gave up.
	OpenTime = 5 * time.Second
	// AnswerTime is how long the person waits in the agent for a command that
	// was typed there: less than WatchTime.
	AnswerTime = 8 * time.Second
	// WatchTime is when a hook ends though something in it hangs that cannot be interrupted, such as a system call.
	WatchTime = 9 * time.Second

	// sweepPause is how often retention looks at a session's start or end.
	sweepPause = time.Hour
)
