package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// Resolve finds the checkpoint that spec names: a keyword, a number (1 is the
// newest), a name, an id or a prefix of one of at least four letters, a time
// as @{5m} or @{2026-11-20 14:30}, a prompt as prompt~2 of the session that
// session.Choose finds, <session-id>:<event-id>, or attempt~2 for the newest checkpoint of an attempt as package attempts
// counts them, or @green for the newest checkpoint of a tree whose tests passed, @green~1 for the one before it. Errors: *NoCheckpointError, *AmbiguousError, *session.UnclearError, *attempts.NoAttemptError.
func Resolve(ctx context.Context, p *project.Project, spec string) (project.Listed, error) {
	return ResolveIn(ctx, p, spec, "")
}

// ResolveAny is ResolveIn also for a checkpoint of a log that was pulled: NAME/REFERENCE, or an id that this store's own log does not have.
// Such a checkpoint has Of set. A name of a checkpoint has no slash, so that none is hidden by it.
func ResolveAny(ctx context.Context, p *project.Project, spec, session string) (project.Listed, error) {
	log, rest, ok := CutLog(spec)
	if !ok {
		own, err := ResolveIn(ctx, p, spec, session)
		if !errors.As(err, new(*project.NoCheckpointError)) || !isIDPrefix(spec) || len(spec) < minPrefix {
			return own, err
		}
		if found, ok := inPulled(ctx, p, spec); ok {
			return found, nil
		}
		return own, err
	}
	v, err := p.ViewOf(log)
	if err != nil {
		return project.Listed{}, err
	}
	if _, ok := conversation.PromptNumber(rest); ok {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "prompt~N counts the prompts of sessions of this machine"}
	}
	if _, ok := attempts.Number(rest); ok {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "attempt~N counts those of this store"}
	}
	found, err := ResolveIn(ctx, v, rest, "")
	if missing := (*project.NoCheckpointError)(nil); errors.As(err, &missing) {
		missing.Spec = spec
	}
	if err != nil || found.Seq > v.Fork() {
		found.Of = log
		return found, err
	}
	// It is older than the place at which that log and this store's own part: what is left of it is here.
	own, err := ResolveIn(ctx, p, found.ID.String(), "")
	if missing := (*project.NoCheckpointError)(nil); errors.As(err, &missing) {
		err = &project.NoCheckpointError{Spec: spec, Reason: "it is older than what only " + log + " has, and was removed from this store"}
	}
	return own, err
}

// CutLog takes a reference to a checkpoint of a pulled log apart.
func CutLog(spec string) (log, rest string, ok bool) {
	log, rest, ok = strings.Cut(spec, "/")
	return log, rest, ok && project.IsLogName(log)
}

// inPulled finds a checkpoint by its id in the logs that were pulled. ok is false where none has it, or they disagree.
func inPulled(ctx context.Context, p *project.Project, spec string) (found project.Listed, ok bool) {
	all, err := p.Pulled()
	if err != nil {
		return found, false
	}
	for _, l := range all {
		v, err := p.View(l)
		if err != nil {
			continue
		}
		one, err := ResolveIn(ctx, v, spec, "")
		if err != nil || one.Seq <= l.Fork {
			continue
		}
		if ok && one.ID != found.ID {
			return found, false
		}
		if !ok {
			found, ok = one, true
			found.Of = l.Name
		}
	}
	return found, ok
}

// ResolveIn is Resolve with the session named whose last and prev are meant, and
// that prompt~N counts in.
func ResolveIn(ctx context.Context, p *project.Project, spec, session string) (project.Listed, error) {
	if n, ok := conversation.PromptNumber(spec); ok {
		return conversation.ResolvePrompt(ctx, p, spec, n, session)
	}
	if n, ok := attempts.Number(spec); ok {
		return attemptEnd(ctx, p, n)
	}
	if n := slices.Index([]string{"", "last", "prev"}, spec); n >= 0 && session != "" {
		return ofSession(ctx, p, spec, max(n, 1), session)
	}
	var found project.Listed
	err := p.Query(ctx, func(db *manifest.DB) (err error) {
		found, err = resolve(p, db, spec)
		if err == nil && found.N == 0 && found.Kind != manifest.Safety {
			found.N = db.Position(found.Seq)
		}
		return err
	})
	return found, err
}

// attemptEnd finds the checkpoint with which an attempt ends. If the tree is at that attempt and has changed since its newest
// checkpoint, the end is the tree, and the error says so.
func attemptEnd(ctx context.Context, p *project.Project, n int) (project.Listed, error) {
	_, a, err := attempts.Numbered(ctx, p, n)
	if err != nil {
		return project.Listed{}, err
	}
	if a.Open {
		now, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
		if err != nil {
			return project.Listed{}, p.Classify(err)
		}
		root := now.Root()
		if err := now.Discard(); err != nil {
			return project.Listed{}, err
		}
		if a.End == nil || a.End.Root != root {
			return project.Listed{}, &attempts.NoAttemptError{N: n, Now: true, Newest: a.End}
		}
	}
	return *a.End, nil
}

func resolve(p *project.Project, db *manifest.DB, spec string) (project.Listed, error) {
	switch spec {
	case "", "last":
		return nth(db, spec, 1)
	case "prev":
		return nth(db, spec, 2)
	}
	if n, err := strconv.ParseUint(spec, 10, 31); err == nil {
		return nth(db, spec, int(n))
	}
	if n, ok := greenNumber(spec); ok {
		return green(db, spec, n)
	}
	if when, ok := strings.CutPrefix(spec, "@{"); ok && strings.HasSuffix(when, "}") {
		return at(p, db, spec, strings.TrimSuffix(when, "}"))
	}
	if session, event, ok := strings.Cut(spec, ":"); ok {
		return conversation.ByEvent(db, spec, session, event)
	}
	if c, ok, err := db.ByName(spec); err != nil || ok {
		return project.Listed{Checkpoint: c}, err
	}
	switch {
	case !isIDPrefix(spec):
		return project.Listed{}, &project.NoCheckpointError{Spec: spec}
	case len(spec) < minPrefix:
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: fmt.Sprintf("an id needs at least %d letters", minPrefix)}
	}
	matches, err := db.ByPrefix(spec, 10)
	switch {
	case err != nil:
		return project.Listed{}, err
	case len(matches) == 0:
		return project.Listed{}, &project.NoCheckpointError{Spec: spec}
	case len(matches) == 1:
		return project.Listed{Checkpoint: matches[0]}, nil
	}
	ambiguous := &project.AmbiguousError{Spec: spec}
	for _, c := range matches {
		ambiguous.Matches = append(ambiguous.Matches, c.ID.String())
	}
	return project.Listed{}, ambiguous
}

// ofSession finds the n-th newest checkpoint of a session.
func ofSession(ctx context.Context, p *project.Project, spec string, n int, id string) (found project.Listed, err error) {
	s, err := session.Named(ctx, p, id)
	if err != nil {
		return project.Listed{}, err
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		count := 0
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID}) {
			if err != nil {
				return err
			}
			if c.Agent != s.Agent {
				continue
			}
			if count++; count == n {
				found = project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
				return nil
			}
		}
		return &project.NoCheckpointError{Spec: spec, Reason: "in session " + s.ID + " " + howMany(count)}
	})
	return found, err
}

func nth(db *manifest.DB, spec string, n int) (project.Listed, error) {
	if n <= 0 {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "the newest is number 1"}
	}
	c, ok, err := db.Nth(n)
	if err != nil || ok {
		return project.Listed{Checkpoint: c, N: n}, err
	}
	count, _, err := db.Count()
	if err != nil {
		return project.Listed{}, err
	}
	return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: howMany(count)}
}

// greenNumber reads @green, which is @green~0, and @green~N.
func greenNumber(spec string) (n int, ok bool) {
	text, ok := strings.CutPrefix(spec, "@green")
	if !ok || text == "" {
		return 0, ok
	}
	number, ok := strings.CutPrefix(text, "~")
	before, err := strconv.ParseUint(number, 10, 31)
	return int(before), ok && err == nil
}

// green finds the newest checkpoint of a tree whose tests passed, behind n others.
func green(db *manifest.DB, spec string, n int) (project.Listed, error) {
	count := 0
	for c, err := range db.Checkpoints(manifest.Query{}) {
		if err != nil {
			return project.Listed{}, err
		}
		if !c.Green {
			continue
		}
		if count == n {
			return project.Listed{Checkpoint: c}, nil
		}
		count++
	}
	reason := "no test command of an agent has ended with 0 here, as far as its hooks say: see the setting green.commands"
	if count > 0 {
		reason = howMany(count) + " with tests that passed"
	}
	return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: reason}
}

// howMany says why a number names no checkpoint.
func howMany(count int) string {
	switch count {
	case 0:
		return "there are none"
	case 1:
		return "there is only 1"
	}
	return fmt.Sprintf("there are only %d", count)
}

func at(p *project.Project, db *manifest.DB, spec, text string) (project.Listed, error) {
	t, err := ParseMoment(text, p.Env.Time())
	if err != nil {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: err.Error()}
	}
	if t.After(p.Env.Time()) {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "that is in the future"}
	}
	c, ok, err := db.At(t)
	if err != nil {
		return project.Listed{}, err
	}
	if !ok {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: "the oldest one is newer"}
	}
	return project.Listed{Checkpoint: c}, nil
}

// minPrefix is how many letters of an id name a checkpoint.
const minPrefix = 4

// isIDPrefix reports whether s has letters of checkpoint ids only.
func isIDPrefix(s string) bool {
	for i := range len(s) {
		if s[i] < 'k' || s[i] > 'z' {
			return false
		}
	}
	return len(s) <= 16
}

// ParseMoment understands an age (5m, 2h30m, 3d, 1w) and a local time.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if age, err := ParseAge(text); err == nil {
		return now.Add(-age), nil
	}
	for _, layout := range []string{
		"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02",
	} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		today := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if today.After(now) {
			today = today.AddDate(0, 0, -1)
		}
		return today, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither an age like 5m, 2h or 3d nor a time like 2026-11-20 14:30", text)
}

// ParseAge understands Go's durations and d and w, alone or in front: 3d, 1w2d, 1d12h.
func ParseAge(text string) (time.Duration, error) {
	var total time.Duration
	rest := text
	for {
		i := strings.IndexAny(rest, "dw")
		if i < 0 {
			break
		}
		n, err := strconv.ParseUint(rest[:i], 10, 31)
		if err != nil {
			return 0, fmt.Errorf("%q is not an age", text)
		}
		day := 24 * time.Hour
		if rest[i] == 'w' {
			day *= 7
		}
		add := time.Duration(n) * day
		if n > 0 && add/time.Duration(n) != day || total+add < total {
			return 0, fmt.Errorf("%q is too long ago", text)
		}
		total, rest = total+add, rest[i+1:]
	}
	if rest == "" && text != "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || total+d < total {
		return 0, fmt.Errorf("%q is not an age", text)
	}
	return total + d, nil
}
