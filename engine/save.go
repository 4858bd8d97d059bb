package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"rewind/manifest"
)

// SaveOptions of one save.
type SaveOptions struct {
	Kind          manifest.CheckpointKind // "": Manual
	Description   string
	Name          string
	Pin           bool
	NoIgnore      bool // take everything but .git, the store and the agents' directories
	Rehash        bool // trust no stat, read every file
	OnlyIfChanged bool // no record when the tree is that of the newest checkpoint

	// By is what the agent's hook knows. Its zero value means what the
	// environment says of a session that the command runs in, if anything.
	By Trigger
}

// Saved is what a save did.
type Saved struct {
	Checkpoint manifest.Checkpoint
	Unchanged  bool      // the tree of the checkpoint before
	Skipped    bool      // OnlyIfChanged, and nothing had changed: there is no new record
	Partial    []Problem // paths that should have been captured and were not
	Elapsed    time.Duration
}

// Problem is a path that a checkpoint did not capture as it is, and why.
type Problem struct {
	Path   string
	Reason string
	Failed bool // it should have been captured
}

// Save takes a checkpoint of the whole tree. It returns when the checkpoint is
// durable. Paths that could not be captured are in Partial; they void nothing.
func (p *Project) Save(ctx context.Context, o SaveOptions) (*Saved, error) {
	start := time.Now()
	if o.By == (Trigger{}) {
		o.By = triggerOf(p.env)
	}
	if o.Name != "" {
		if err := p.freeName(ctx, o.Name, manifest.CheckpointID{}); err != nil {
			return nil, err
		}
	}
	if err := p.writing(ctx); err != nil {
		return nil, err
	}
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := p.capture(ctx, captureOptions{noIgnore: o.NoIgnore, rehash: o.Rehash})
	if err != nil {
		return nil, err
	}
	saved, err := p.saveCaptured(ctx, c, o)
	if saved != nil {
		saved.Elapsed = time.Since(start)
	}
	return saved, err
}

// saveCaptured makes a captured tree a checkpoint.
func (p *Project) saveCaptured(ctx context.Context, c *captured, o SaveOptions) (*Saved, error) {
	if o.OnlyIfChanged {
		parent, err := p.newestCheckpoint()
		if err != nil {
			return nil, err
		}
		if parent != nil && parent.Root == c.root() {
			return &Saved{Checkpoint: *parent, Unchanged: true, Skipped: true, Partial: failed(c.problems)}, c.discard()
		}
	}
	at, held, err := c.conversation(ctx, o.By)
	if err != nil {
		return nil, errors.Join(err, c.discard())
	}
	r, err := c.record(o)
	if err != nil {
		return nil, err
	}
	r.Transcript = at
	lockCtx, cancel := p.wait(ctx)
	defer cancel()
	a, err := p.store.Append(lockCtx)
	if err != nil {
		return nil, p.classify(err)
	}
	defer a.Close()
	// Under the lock nothing comes between: the checkpoint before is the one before.
	parent, err := p.newestCheckpoint()
	if err != nil {
		return nil, err
	}
	if err := c.relate(r, parent); err != nil {
		return nil, p.classify(err)
	}
	done, err := p.append(a, c, []manifest.Record{{Checkpoint: r}})
	if err != nil {
		return nil, p.classify(err)
	}
	r.Seq = done.Seq
	p.noteConversation(ctx, o.By, held)
	return &Saved{
		Checkpoint: *r,
		Unchanged:  parent != nil && parent.Root == r.Root,
		Partial:    failed(c.problems),
	}, nil
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
	if r.Coverage, err = c.put(encodeProblems(c.problems)); err != nil {
		return nil, err
	}
	if r.Rules, err = c.put(c.rules); err != nil {
		return nil, err
	}
	return r, nil
}

// relate completes a record with what depends on the checkpoint before, nil for none.
func (c *captured) relate(r *manifest.Checkpoint, parent *manifest.Checkpoint) error {
	before := manifest.ID{}
	if parent != nil {
		before, r.Parent = parent.Root, parent.ID
		if !r.Time.After(parent.Time) {
			// Order is by the log, whatever the clock says.
			r.Time = parent.Time.Add(time.Microsecond)
		}
	}
	err := manifest.Diff(c.loadDir, before, r.Root, func(change manifest.Change) error {
		switch {
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
	r.StoredBytes = uint64(c.batch.StoredBytes())
	return err
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
		if raw, err := base64.StdEncoding.DecodeString(line.Raw); err == nil && len(raw) > 0 {
			line.Path = string(raw)
		}
		out = append(out, Problem{Path: line.Path, Reason: line.Reason, Failed: line.Failed})
	}
	return out, nil
}
