package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"rewind/cas"
	"rewind/engine/scan"
	"rewind/manifest"
)

// SaveOptions of one save.
type SaveOptions struct {
	Kind        manifest.CheckpointKind // "": Manual
	Description string
	Name        string
	Pin         bool
	NoIgnore    bool // take everything but .git, the store and the agents' directories
	Rehash      bool // trust no stat, read every file
	// What there must be for a record: another tree than that of the newest
	// checkpoint, new messages in the conversation; either, if both are asked for.
	OnlyIfChanged, OnlyIfSaid bool

	// By is what the agent's hook knows. Its zero value means what the
	// environment says of a session that the command runs in, if anything.
	By Trigger
}

// Saved is what a save did.
type Saved struct {
	Checkpoint manifest.Checkpoint
	Unchanged  bool      // the tree of the checkpoint before
	Skipped    bool      // nothing had changed that was asked for: there is no new record
	Partial    []Problem // paths that should have been captured and were not
	TooLarge   []Problem // files over the setting maxFileSize, which are not captured
	Elapsed    time.Duration
	// Of a checkpoint without any file, a path that a rule left out, and the rule:
	// a project whose own rules exclude everything should be told so.
	Ignored, IgnoredBy string

	before uint64            // sequence number of the checkpoint before
	held   *heldConversation // where the session's next capture goes on
}

// Problem is a path that a checkpoint did not capture as it is, and why.
type Problem struct {
	Path   string
	Reason string
	Failed bool // it should have been captured
}

// saving is one save: what was asked, and what a hook adds.
type saving struct {
	SaveOptions
	moment    time.Time            // on the file system's clock, taken before the tree is looked at; zero: now
	since     time.Time            // paths that changed after it are late; zero: no such thing
	session   *manifest.Session    // recorded with the checkpoint, or without one
	unlocked  bool                 // the scan may take long: hold no tree lock meanwhile
	preimages func() []preimage    // asked after the scan: what tools were about to change meanwhile; nil: nothing
	valid     func() (bool, error) // asked before the commit: is what was scanned worth it; nil: it is
}

// Save takes a checkpoint of the whole tree. It returns when the checkpoint is
// durable. Paths that could not be captured are in Partial; they void nothing.
func (p *Project) Save(ctx context.Context, o SaveOptions) (*Saved, error) {
	if o.By == (Trigger{}) {
		o.By = triggerOf(p.env)
	}
	_ = p.clearUp(ctx) // what cannot be cleared is told of by every command, and voids no save
	saved, err := p.save(ctx, saving{SaveOptions: o})
	if err == nil {
		p.noteConversation(ctx, o.By, saved.held)
		p.finishForgetting(ctx)
		p.mirrorSettings()
	}
	return saved, err
}

func (p *Project) save(ctx context.Context, o saving) (*Saved, error) {
	start := time.Now()
	if o.Name != "" {
		if err := p.freeName(ctx, o.Name); err != nil {
			return nil, err
		}
	}
	if err := p.writing(ctx); err != nil {
		return nil, err
	}
	still, err := p.holdStill(ctx)
	if err != nil {
		return nil, err
	}
	if o.unlocked {
		still.release()
	} else {
		defer still.release()
	}
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	options := captureOptions{noIgnore: o.NoIgnore, rehash: o.Rehash, late: o.since, moment: o.moment}
	var said *conversationPlace
	if !o.since.IsZero() {
		// The conversation goes on while a long scan runs: it is captured first.
		options.first = func(c *captured) (err error) {
			said, err = c.conversation(ctx, o.By)
			return err
		}
	}
	c, err := p.capture(ctx, options)
	if err != nil {
		return nil, err
	}
	if o.preimages != nil {
		if err := c.override(o.preimages()); err != nil {
			return nil, errors.Join(err, c.discard())
		}
	}
	saved, err := p.saveCaptured(ctx, c, o, said)
	if saved != nil {
		saved.Elapsed = time.Since(start)
	}
	return saved, err
}

// holdStill waits for a restore that is running, and keeps the next one from
// beginning until it is released: a half-restored tree is never captured.
func (p *Project) holdStill(ctx context.Context) (*fileLock, error) {
	ctx, cancel := p.wait(ctx)
	defer cancel()
	return lockFile(ctx, filepath.Join(p.place.store, lockName, treeLockName), treeLockName, false)
}

// saveCaptured makes a captured tree a checkpoint.
func (p *Project) saveCaptured(ctx context.Context, c *captured, o saving, said *conversationPlace) (_ *Saved, err error) {
	if o.OnlyIfChanged || o.OnlyIfSaid {
		parent, err := p.newestCheckpoint()
		if err != nil {
			return nil, errors.Join(err, c.discard())
		}
		due := parent == nil || o.OnlyIfChanged && parent.Root != c.root()
		if !due && o.OnlyIfSaid && said == nil {
			if said, err = c.conversation(ctx, o.By); err != nil {
				return nil, errors.Join(err, c.discard())
			}
		}
		if due = due || o.OnlyIfSaid && said.said; !due {
			if o.session != nil {
				_, err = p.commit(ctx, manifest.Record{Session: o.session})
			}
			return &Saved{Checkpoint: *parent, Unchanged: true, Skipped: true, Partial: failed(c.problems)}, errors.Join(err, c.discard())
		}
	}
	if said == nil {
		if said, err = c.conversation(ctx, o.By); err != nil {
			return nil, errors.Join(err, c.discard())
		}
	}
	r, err := c.record(o.SaveOptions)
	if err != nil {
		return nil, errors.Join(err, c.discard())
	}
	r.Transcript = said.at
	r.PromptID, r.Prompt = said.held.promptOf(o.SaveOptions)
	if !o.since.IsZero() {
		r.Time = o.since.UTC()
	}
	var parent *manifest.Checkpoint
	records := []manifest.Record{{Checkpoint: r}}
	if o.session != nil {
		records = append(records, manifest.Record{Session: o.session})
	}
	at, err := c.tx.Commit(ctx, func() ([]manifest.Record, error) {
		if o.valid != nil {
			ok, err := o.valid()
			if err == nil && !ok {
				err = errOvertaken
			}
			if err != nil {
				return nil, err
			}
		}
		if o.Name != "" {
			err := p.look(ctx, func(db *manifest.DB) error { return nameFree(db, o.Name, r.ID) })
			if err != nil {
				return nil, err
			}
		}
		var err error
		parent, err = c.tx.relate(r)
		return records, err
	}, c.publish)
	if err != nil {
		return nil, errors.Join(err, c.discard())
	}
	r.Seq = at.Seq - uint64(len(records)-1)
	saved := &Saved{
		Checkpoint: *r,
		Unchanged:  parent != nil && parent.Root == r.Root,
		Partial:    failed(c.problems),
		TooLarge:   tooLarge(c.problems),
		held:       said.held,
	}
	if parent != nil {
		saved.before = parent.Seq
	}
	if r.Files == 0 {
		saved.Ignored, saved.IgnoredBy = ruledOut(c.problems)
	}
	return saved, nil
}

// record makes the checkpoint record of a capture, but for its relation to the
// checkpoint before.
func (c *captured) record(o SaveOptions) (*manifest.Checkpoint, error) {
	id, err := manifest.NewCheckpointID(rand.Reader)
	if err != nil {
		return nil, err
	}
	r := &manifest.Checkpoint{
		ID: id, Time: c.moment.UTC(), Kind: o.Kind, Description: o.Description, Name: o.Name, Pinned: o.Pin,
		Root: c.root(), Files: c.scan.Files, Bytes: c.scan.Bytes,
		GitHead: c.git.head, GitBranch: c.git.branch,
		Agent: o.By.Agent, Session: o.By.Session, Subagent: o.By.Subagent,
		Prompt: o.By.Prompt, PromptID: o.By.PromptID, Tool: o.By.Tool, ToolUseID: o.By.ToolUseID,
	}
	if r.Kind == "" {
		r.Kind = manifest.Manual
	}
	for _, problem := range c.problems {
		if problem.Failed {
			r.Partial++
		}
	}
	if r.Coverage, err = c.tx.Put(encodeProblems(c.problems)); err != nil {
		return nil, err
	}
	if r.Rules, err = c.tx.Put(c.rules); err != nil {
		return nil, err
	}
	return r, nil
}

// relate completes a checkpoint's record with what depends on the checkpoint before, and gives
// that one, nil for none. The caller holds the append lock.
func (t *Tx) relate(r *manifest.Checkpoint) (parent *manifest.Checkpoint, err error) {
	if parent, err = t.p.newestCheckpoint(); err != nil {
		return nil, err
	}
	r.StoredBytes = uint64(t.StoredBytes())
	if parent == nil {
		// Everything is new, and counted already. Reading back the manifests of a
		// whole tree takes 7 % of the first save of 79,000 files, on one core.
		r.Added = r.Files
		return nil, nil
	}
	r.Parent = parent.ID
	if !r.Time.After(parent.Time) {
		// Order is by the log, whatever the clock says.
		r.Time = parent.Time.Add(time.Microsecond)
	}
	var left unread // read when something is gone
	err = manifest.Diff(t.Load, parent.Root, r.Root, func(change manifest.Change) error {
		if change.New == nil && left == nil {
			if left, err = t.unread(r.Coverage); err != nil {
				return err
			}
		}
		switch {
		case change.New == nil && left.has(change.Path): // not captured, but there
		case change.Old == nil:
			if change.New.Kind != manifest.Subdir {
				r.Added++
			}
		case change.New == nil:
			if change.Old.Kind != manifest.Subdir {
				r.Deleted++
			}
		default:
			r.Modified++
		}
		return nil
	})
	if isDamage(err) {
		// That the tree before is damaged must not keep this one from being saved: nothing of it is known.
		r.Added, r.Modified, r.Deleted = r.Files, 0, 0
		return parent, nil
	}
	return parent, err
}

// unread are the paths that a coverage of the transaction names as there and not captured.
func (t *Tx) unread(coverage manifest.ID) (unread, error) {
	if coverage == (manifest.ID{}) {
		return unread{}, nil
	}
	data, err := t.Get(nil, cas.ID(coverage))
	if err != nil {
		return nil, err
	}
	problems, err := decodeProblems(data)
	return unreadOf(problems), err
}

// isDamage reports whether an error says that a tree cannot be what it was, and not that the system failed.
func isDamage(err error) bool {
	var deep *manifest.DepthError
	var object *cas.DamagedError
	var missing *cas.NotFoundError
	var format *manifest.FormatError
	return errors.As(err, &deep) || errors.As(err, &object) || errors.As(err, &missing) || errors.As(err, &format)
}

// ruledOut names a path that a rule file or a setting left out, and the rule.
func ruledOut(problems []Problem) (path, reason string) {
	for _, problem := range problems {
		if strings.HasPrefix(problem.Reason, "ignored: ") && !strings.HasPrefix(problem.Path, ".") {
			return problem.Path, problem.Reason
		}
	}
	return "", ""
}

// tooLarge are the files that the setting maxFileSize left out.
func tooLarge(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Reason == scan.TooLarge {
			out = append(out, problem)
		}
	}
	return out
}

func failed(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Failed {
			out = append(out, problem)
		}
	}
	return out
}

// coverageLine is one line of a coverage object: JSON, so that a person can
// read it with `rewind cat`-like tools of any version. Raw holds a path that is no UTF-8.
type coverageLine struct {
	Path   string `json:"path"`
	Raw    string `json:"raw,omitempty"`
	Reason string `json:"reason"`
	Failed bool   `json:"failed,omitempty"`
	// Forgotten stands for a path that forget took out; Path is empty then.
	Forgotten string `json:"forgotten,omitempty"`
}

func encodeProblems(problems []Problem) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, problem := range problems {
		line := coverageLine{Path: problem.Path, Reason: problem.Reason, Failed: problem.Failed}
		if !utf8.ValidString(problem.Path) {
			line.Raw = base64.StdEncoding.EncodeToString([]byte(problem.Path))
		}
		if err := enc.Encode(line); err != nil {
			panic(err) // strings and booleans always encode, into memory
		}
	}
	return out.Bytes()
}

func decodeProblems(data []byte) ([]Problem, error) {
	var out []Problem
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		var line coverageLine
		if err := dec.Decode(&line); err != nil {
			return nil, fmt.Errorf("read the coverage: %w", err)
		}
		if line.Forgotten != "" {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(line.Raw); err == nil && len(raw) > 0 {
			line.Path = string(raw)
		}
		out = append(out, Problem{Path: line.Path, Reason: line.Reason, Failed: line.Failed})
	}
	return out, nil
}
