package attempts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Fork is a place at which a prompt was typed, once or more often. Whoever has it owns it.
type Fork struct {
	// Base is the checkpoint of the oldest attempt's prompt that is still there: what they have in common.
	Base     project.Listed
	Attempts []Attempt // oldest first
	At       int       // N of the attempt whose state the tree has, by the log; 0: none
}

// Attempt is one prompt of a Fork and what became of it.
type Attempt struct {
	N       int             // from 1, the oldest
	Prompt  project.Listed  // its prompt's checkpoint
	End     *project.Listed // the newest checkpoint with its work, which may be its prompt's; nil: collected
	Prompts int             // typed in it, in its session or one that comes from that
	Mixed   bool            // another attempt was at work in the same tree, so that its trees have both
	Left    bool            // its conversation had been left when End was taken, at another attempt's prompt
	Open    bool            // the tree has its state, and no conversation that was begun anew since: what came since End is its, too
}

// Began is when the attempt's prompt was typed.
func (a *Attempt) Began() time.Time { return a.Prompt.Time }

// number is the prefix of a word that names an attempt of the newest Fork: attempt~2.
const number = "attempt~"

// Number reads a word that names an attempt.
func Number(spec string) (n int, ok bool) {
	text, ok := strings.CutPrefix(spec, number)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}

// Name is how an attempt is named on a command line.
func Name(n int) string { return number + strconv.Itoa(n) }

// maxTranscripts is how many sessions' transcripts Newest looks into for branches that no operation of
// ours made.
const maxTranscripts = 16

// Newest is the Fork whose newest attempt is the newest of all that have more than one; nil for none. Of branches that
// only a client knows of, it finds those of the sessions that were active last.
func Newest(ctx context.Context, p *project.Project) (*Fork, error) {
	return with(ctx, p, func(r *reading) (*Fork, error) {
		best := r.newest()
		for _, k := range r.sessions(maxTranscripts) {
			if best != nil && r.lastPrompt(k) < last(best).Seq {
				break // nothing in it is newer
			}
			if err := r.joinPrompts(k); err != nil {
				return nil, err
			}
			best = r.newest()
		}
		if best == nil {
			return nil, nil
		}
		return r.fork(best)
	})
}

// Of is the Fork of a prompt: of the checkpoint c, where that is a prompt's, else of the turn that it is in. nil
// where no prompt is known there.
func Of(ctx context.Context, p *project.Project, c manifest.Checkpoint) (*Fork, error) {
	return with(ctx, p, func(r *reading) (*Fork, error) {
		prompt := r.promptOf(&c)
		if prompt == nil {
			return nil, nil
		}
		for _, k := range r.sessions(0) {
			if r.l.related(k.id, prompt.Session) || k.id == prompt.Session {
				if err := r.joinPrompts(k); err != nil {
					return nil, err
				}
			}
		}
		return r.fork(r.g.members()[r.g.find(prompt.Seq)])
	})
}

// reading is the log with what was found out about its prompts.
type reading struct {
	ctx context.Context
	p   *project.Project
	l   *log
	g   *places

	events map[string]uint64 // a place in a conversation: the first prompt typed there
}

func with(ctx context.Context, p *project.Project, find func(*reading) (*Fork, error)) (*Fork, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := readLog(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &reading{ctx: ctx, p: p, l: l, events: map[string]uint64{}}
	r.g = group(l, r.part)
	f, err := find(r)
	return f, p.Classify(err)
}

var errPart = errors.New("a part")

// part reports whether an operation brought less than its checkpoint. Precious files, which stay where it has
// none, are no difference; of what is damaged nothing is known.
func (r *reading) part(op *manifest.Operation, c *manifest.Checkpoint) bool {
	if op.After == (oid.ID{}) || op.After == c.Root {
		return false
	}
	err := manifest.Diff(r.p.LoadDir, op.After, c.Root, func(d manifest.Change) error {
		if d.Precious() {
			return nil
		}
		return errPart
	})
	return errors.Is(err, errPart)
}

// joinPrompts joins the prompts of a session with those that have the same messages before them.
func (r *reading) joinPrompts(k sessionKey) error {
	var own []manifest.Checkpoint
	for _, c := range r.l.prompts {
		if sessionOf(c) == k {
			own = append(own, *c)
		}
	}
	found, err := conversation.PlacesBefore(r.ctx, r.p, k.agent, k.id, own)
	if project.IsDamage(err) {
		return nil // verify tells of that; the log's own words are left
	}
	if err != nil {
		return err
	}
	for _, c := range own {
		place, ok := found[c.Seq]
		if !ok {
			continue
		}
		if first, ok := r.events[place]; ok {
			r.g.join(first, c.Seq)
		} else {
			r.events[place] = c.Seq
		}
	}
	return nil
}

// common is the newest place that two states are in different attempts of, with the attempts' numbers; nil for none.
// A state that is nil is the present tree.
func (r *reading) common(x, y *manifest.Checkpoint) (f *Fork, a, b int, err error) {
	var all [][]*manifest.Checkpoint
	for _, m := range r.g.members() {
		if len(m) > 1 {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(m, n []*manifest.Checkpoint) int { return compareSeq(last(n), last(m)) })
	for _, m := range all {
		s := stands(r.l, m, r.part)
		in := func(c *manifest.Checkpoint) int {
			switch {
			case c == nil:
				return s.at
			case s.wasAt[c.Seq] > 0:
				return s.wasAt[c.Seq]
			}
			// A prompt's own checkpoint is its attempt's.
			return 1 + slices.IndexFunc(m, func(o *manifest.Checkpoint) bool { return o.Seq == c.Seq })
		}
		if a, b = in(x), in(y); a > 0 && b > 0 && a != b {
			f, err = r.fork(m)
			return f, a, b, err
		}
	}
	return nil, 0, 0, nil
}

// sessions are those with prompts, the one that was spoken in last first; limit 0: all.
func (r *reading) sessions(limit int) (list []sessionKey) {
	seen := map[sessionKey]bool{}
	for _, c := range slices.Backward(r.l.prompts) {
		if k := sessionOf(c); !seen[k] {
			seen[k] = true
			if list = append(list, k); len(list) == limit {
				break
			}
		}
	}
	return list
}

func (r *reading) lastPrompt(k sessionKey) uint64 {
	for _, c := range slices.Backward(r.l.prompts) {
		if sessionOf(c) == k {
			return c.Seq
		}
	}
	return 0
}

func last(list []*manifest.Checkpoint) *manifest.Checkpoint { return list[len(list)-1] }

func compareSeq(a, b *manifest.Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) }

// newest are the prompts of the place that was tried again last; nil for none.
func (r *reading) newest() (best []*manifest.Checkpoint) {
	for _, m := range r.g.members() {
		if len(m) > 1 && (best == nil || last(m).Seq > last(best).Seq) {
			best = m
		}
	}
	return best
}

// promptOf is the prompt that a checkpoint was taken at, or in whose turn; nil where none is known.
func (r *reading) promptOf(c *manifest.Checkpoint) (found *manifest.Checkpoint) {
	for _, p := range r.l.prompts {
		if p.Seq > c.Seq {
			break
		}
		if c.Session == "" || sessionOf(p) == sessionOf(c) {
			found = p
		}
	}
	return found
}

func (r *reading) fork(starts []*manifest.Checkpoint) (*Fork, error) {
	s := stands(r.l, starts, r.part)
	f := &Fork{At: s.at}
	err := r.p.Query(r.ctx, func(db *manifest.DB) error {
		listed := func(c *manifest.Checkpoint) project.Listed {
			return project.Listed{Checkpoint: *c, N: db.Position(c.Seq)}
		}
		f.Base = listed(starts[0])
		for i, c := range starts {
			a := Attempt{N: i + 1, Prompt: listed(c), Prompts: s.prompts[i+1], Mixed: s.mixed[i+1], Open: s.at == i+1 && !s.apart}
			if end := s.last[i+1]; end != nil && !s.gone[i+1] {
				l := listed(end)
				a.End, a.Left = &l, slices.ContainsFunc(starts, func(c *manifest.Checkpoint) bool { return c.Seq == end.Seq && c.Seq != a.Prompt.Seq })
			}
			f.Attempts = append(f.Attempts, a)
		}
		return nil
	})
	return f, err
}
