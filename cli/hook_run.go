package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"rewind/engine"
	"rewind/engine/checkpoint"
	"rewind/engine/conversation"
	"rewind/engine/hook"
	"rewind/engine/project"
	"rewind/hookio"
	"rewind/hookio/shell"
	"rewind/manifest"
)

// hookCall is one event that an agent reports.
type hookCall struct {
	start   time.Time
	env     project.Env
	event   *hookio.Event
	named   hookio.Agent // in the registered line
	self    string       // how the program was called
	session project.SessionState
	project *project.Project
	failure error // the first thing that went wrong

	opened atomic.Bool // for await: the project was found, or there is none
}

// run decides in this order: is the project known; may the tool call pass; is
// it a command for us; is a checkpoint due; and takes it.
func (h *hookCall) run(ctx context.Context) hookio.Response {
	e := h.event
	if e.Kind == hookio.Ignored || e.Kind == hookio.Notification {
		return hookio.Response{}
	}
	if e.Kind == hookio.SubagentStop && e.AgentType == "" {
		return hookio.Response{} // an agent's own helpers, whose sessions may not even exist
	}
	if err := project.Supported(h.env); err != nil {
		return h.warnUnsupported(ctx, err)
	}
	h.session = project.LoadSession(h.env, string(e.Agent), e.SessionID)
	err := h.open(ctx)
	h.opened.Store(true)
	if h.project != nil {
		defer h.project.Close()
	}
	if c, args, ok := h.inSession(); ok { // before all else: no answer would be a turn of the model
		return h.answer(ctx, c, args, err)
	}
	var missing *project.NotInitializedError
	var refused *project.RefusedRootError
	switch {
	case errors.As(err, &refused):
		return hookio.Response{} // nobody wants a store there
	case errors.As(err, &missing):
		return h.warnUninitialised(ctx, missing)
	case err != nil:
		return h.tell(ctx, "failed", failureText(err))
	}
	if r := h.guard(); r != nil {
		return r.Response(h.event.Agent)
	}
	if e.Kind == hookio.SessionStart {
		h.begin()
	}
	saved, err := h.save(ctx)
	h.note(err)
	h.end(saved)
	if h.failure != nil {
		h.project.NoteHookError(h.failure)
		return h.tell(ctx, "failed", failureText(h.failure))
	}
	if saved != nil {
		h.project.NoteHookError(nil)
	}
	if left := h.project.History(); len(left) > 0 { // this hook has made the store
		return h.tell(ctx, "history", "[rewind] A store was created."+historyNotice(left))
	}
	if found := h.project.Notices(); len(found) > 0 { // what this hook has mended
		return h.tell(ctx, "mended", "[rewind] Note: "+strings.Join(found, "; ")+".")
	}
	return hookio.Response{}
}

// note keeps the first thing that went wrong; the hook goes on.
func (h *hookCall) note(err error) {
	if h.failure == nil {
		h.failure = err
	}
}

func failureText(err error) string {
	return "[rewind] Warning: no checkpoint was taken: " + explain(err).message + ". See 'rewind status'."
}

// open finds the project of the session. Where it is looked for is fixed at the
// session's first hook: a cd into another repository does not change it.
func (h *hookCall) open(ctx context.Context) error {
	s := &h.session
	if s.Dir == "" {
		dir, by := hookio.Root(h.event, h.env.Getenv)
		if dir == "" {
			dir = h.env.Dir
		}
		if dir == "" {
			return &project.RefusedRootError{Root: ".", Reason: "a working directory that no longer exists"}
		}
		s.Dir, s.Exact = dir, by == "REWIND_PROJECT_ROOT"
		err := project.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(now *project.SessionState) {
			if now.Dir == "" {
				now.Dir, now.Exact = s.Dir, s.Exact
			}
			*s = *now
		})
		if err != nil && s.Dir == "" {
			s.Dir, s.Exact = dir, by == "REWIND_PROJECT_ROOT"
		}
		// A state that cannot be kept is lost, as it may be: the next hook looks again.
	}
	o := project.OpenOptions{Env: h.env, LockWait: hookTime}
	o.Env.Dir = s.Dir
	o.Env.Getenv = overrideEnv(h.env.Getenv, "REWIND_PROJECT_ROOT", "")
	if s.Exact {
		o.Root = s.Dir
	}
	if h.inWorktree(ctx) {
		o.Root, o.Env.Dir = "", h.event.Cwd
	}
	var err error
	h.project, err = project.Open(ctx, o)
	var missing *project.NotInitializedError
	if errors.As(err, &missing) && h.makes(missing) {
		h.project, _, _, err = engine.Init(ctx, project.InitOptions{OpenOptions: o, NoSave: true})
	}
	return err
}

// makes reports whether the hook makes the store that is missing: with the setting autoInit, or in a
// worktree of a project that the person has initialised.
func (h *hookCall) makes(missing *project.NotInitializedError) bool {
	if missing.Parent != "" {
		return h.event.Kind != hookio.SessionEnd
	}
	if h.event.Kind != hookio.SessionStart {
		return false
	}
	set, _ := project.LoadSettings(h.env, "")
	return set.AutoInit
}

// inWorktree reports whether the agent works in a worktree of its own that the session's project
// leaves out: whole sessions, subagents and parts of a session do. What it does there belongs there.
func (h *hookCall) inWorktree(ctx context.Context) bool {
	now := project.AgentWorktree(h.event.Cwd)
	if !filepath.IsAbs(now) || now == project.AgentWorktree(h.session.Dir) {
		now = ""
	}
	if h.session.Worktree != now {
		h.session.Worktree, h.session.Registered = now, "" // the other store may not know the session
		_ = project.UpdateSession(ctx, h.env, string(h.event.Agent), h.event.SessionID, func(s *project.SessionState) {
			s.Worktree, s.Registered = now, ""
		})
	}
	return now != ""
}

// guard refuses a tool call that would damage the store.
func (h *hookCall) guard() *hookio.Refusal {
	if h.event.Kind != hookio.PreTool || !h.project.Settings().Guard {
		return nil
	}
	store := hookio.Protected{Dir: h.project.StoreDir(), Survives: true}
	g := hookio.Guarded{Root: h.project.Root(), Home: h.env.Home, Protected: []hookio.Protected{store}, Resolve: linkResolver()}
	if h.env.Home != "" {
		g.Protected = append(g.Protected, hookio.Protected{Dir: filepath.Join(h.env.Home, ".rewind")})
	}
	if r := hookio.Guard(h.event, g); r != nil {
		return r
	}
	// What removes a directory around the store is refused only if that is the
	// end of it; to know that costs a look at every pack.
	if shell.Destructive(h.event.Tool.Command) == "" || hook.Mirrored(h.project) == nil {
		return nil
	}
	g.Protected[0].Survives = false
	return hookio.Guard(h.event, g)
}

// save takes the checkpoint if one is due; nil if none was.
func (h *hookCall) save(ctx context.Context) (*hook.Saved, error) {
	e, set := h.event, h.project.Settings()
	policy := hookio.Policy{
		Moments: set.Moments, Debounce: set.AntiSpam.Enabled, MinInterval: set.AntiSpam.MinInterval,
		Significance: set.Significance.Enabled, MinChangeSize: set.Significance.MinChangeSize, CriticalFiles: set.Significance.CriticalFiles,
	}
	state := hookio.State{Now: h.start, LastCheckpoint: h.session.Last, Root: h.project.Root(), SizeOf: sizeOf}
	d := hookio.Decide(e, policy, state)
	if !d.Checkpoint && d.Moment != "" && slices.Contains(set.Moments, d.Moment) {
		// Held back, unless it is the first change after a restore.
		after, err := hook.AfterRestore(h.project)
		if err != nil {
			return nil, err
		}
		d.Checkpoint = after
	}
	// The end of a session keeps its last answer, in every tier: nothing after it will.
	onlySaid := e.Kind == hookio.SessionEnd && !d.Checkpoint
	register := h.sessionRecord()
	var edits []string
	if e.Kind == hookio.PreTool && e.Tool.Class != hookio.Shell {
		edits = e.Tool.Files
	}
	if !d.Checkpoint && !onlySaid || h.seenBefore() {
		if err := hook.BeforeEdit(h.project, edits); err != nil {
			return nil, err
		}
		if register == nil || e.Kind != hookio.SessionStart {
			return nil, nil
		}
		return nil, hook.RegisterSession(ctx, h.project, *register)
	}
	o := hook.SaveOptions{
		Options: checkpoint.Options{
			Kind: kindOf(e.Kind), OnlyIfChanged: e.Kind != hookio.Prompt && !onlySaid && !h.beginsTurn(), OnlyIfSaid: e.Kind == hookio.SessionEnd,
			By: conversation.Trigger{
				Agent: string(e.Agent), Session: e.SessionID, Subagent: e.AgentID,
				PromptID: e.PromptID, Tool: e.Tool.Name, ToolUseID: e.ToolUseID, Transcript: e.TranscriptPath,
			},
		},
		Deadline: h.start.Add(h.budget()),
		Edits:    edits,
		Session:  register,
		Detach:   func() error { return h.detach() },
		Note:     h.remember,
	}
	if e.Kind == hookio.Prompt {
		o.By.Prompt = e.Prompt
	}
	saved, err := hook.Save(ctx, h.project, o)
	if saved != nil && saved.Due {
		h.note(h.detach("--sweep", "--fold"))
	}
	return saved, err
}

// beginsTurn reports a session's start that stands for its prompt's.
func (h *hookCall) beginsTurn() bool {
	return h.event.Kind == hookio.SessionStart && h.event.Agent.Promptless()
}

func (h *hookCall) budget() time.Duration {
	if h.event.Kind == hookio.SessionEnd {
		return endTime
	}
	return hookTime
}

func sizeOf(file string) int64 {
	info, err := os.Lstat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

func kindOf(k hookio.Kind) manifest.CheckpointKind {
	switch k {
	case hookio.SessionStart:
		return manifest.SessionStart
	case hookio.Prompt:
		return manifest.Prompt
	case hookio.PreTool:
		return manifest.PreTool
	case hookio.PostTool:
		return manifest.PostTool
	case hookio.SessionEnd:
		return manifest.SessionEnd
	}
	return manifest.Stop // a subagent's too
}

const (
	// keptTools is how many tool calls of a session are known by their ids.
	// Parallel ones are hardly ever more.
	keptTools = 32
	// retryTime is how soon the same prompt again is a provider's retry, where
	// the agent gives prompts no ids.
	retryTime = 5 * time.Second
)

// promptKey names a prompt: a retry has the same one, another prompt that is
// typed while the agent works on the first has another.
func (h *hookCall) promptKey() string {
	sum := sha256.Sum256([]byte(h.event.PromptID + "\x00" + h.event.Prompt))
	return hex.EncodeToString(sum[:16])
}

// seenBefore reports whether this very prompt or tool call has its checkpoint
// already: a hook that fires twice must not put a later state in the place of
// the one before.
func (h *hookCall) seenBefore() bool {
	e, s := h.event, &h.session
	switch e.Kind {
	case hookio.Prompt:
		if s.Prompt == "" || s.Prompt != h.promptKey() {
			return false
		}
		since := h.start.Sub(s.Prompted)
		return e.PromptID != "" || since >= 0 && since < retryTime
	case hookio.PreTool:
		return e.ToolUseID != "" && slices.Contains(s.Tools, e.ToolUseID)
	}
	return false
}

// remember is what the next hook of the session needs to know of this one.
func (h *hookCall) remember(s *project.SessionState) {
	if s.Last.Before(h.start) {
		s.Last = h.start
	}
	switch h.event.Kind {
	case hookio.Prompt:
		s.Prompt, s.Prompted = h.promptKey(), h.start
	case hookio.PreTool:
		if id := h.event.ToolUseID; id != "" {
			s.Tools = append(s.Tools, id)
			s.Tools = s.Tools[max(0, len(s.Tools)-keptTools):]
		}
	}
}
