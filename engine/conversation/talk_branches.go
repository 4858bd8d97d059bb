package conversation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Branches are the conversations of several checkpoints of one session. Most are the beginning of a later
// one: a branch has the messages of all that lie on it.
type Branches struct {
	Lists [][]int // numbers of messages in their order
	// At has a place for each checkpoint.
	At []BranchPlace
	// Unread counts the checkpoints whose conversation could not be read: it is damaged, or in a form that is not known.
	Unread int
}

// BranchPlace is where a checkpoint's conversation ends.
type BranchPlace struct {
	Branch   int // of Lists; -1: the checkpoint has no conversation
	Messages int // messages of the branch up to then
}

// maxSources bounds how many transcripts are read for the checkpoints of a session: the newest has the
// earlier messages, except those that an agent rewrote.
const maxSources = 100

// TalkBranches gives the messages up to each of the checkpoints, each message once, with its number, from 0.
// checkpoints come newest first. Texts are whole. Errors: those of Open but for damage, and those of each.
func TalkBranches(ctx context.Context, p *project.Project, checkpoints []manifest.Checkpoint, each func(n int, m Message) error) (*Branches, error) {
	out := &Branches{At: make([]BranchPlace, len(checkpoints))}
	var left []int // checkpoints whose conversation was not found yet
	for i := range checkpoints {
		out.At[i].Branch = -1
		if checkpoints[i].Transcript != nil {
			left = append(left, i)
		}
	}
	numbered := 0
	for read := 0; len(left) > 0; read++ {
		if read == maxSources {
			out.Unread += len(left)
			break
		}
		s := talkSource{c: checkpoints[left[0]], out: out}
		rest, err := s.place(ctx, p, checkpoints, left)
		if err == nil {
			err = s.read(ctx, p, &numbered, each)
		}
		switch {
		case project.IsDamage(err), errors.As(err, new(*transcript.FormatError)):
			out.Unread++
			out.At[left[0]].Branch = -1
			rest = left[1:]
		case err != nil:
			return nil, err
		}
		left = rest
	}
	return out, nil
}

// talkSource is one transcript and the checkpoints whose places are in it.
type talkSource struct {
	c    manifest.Checkpoint
	out  *Branches
	x    *transcript.Index
	tips [][]int // lines of branches
	ends []talkEnd
}

// talkEnd is where a checkpoint's conversation ends: in a branch, with a line.
type talkEnd struct{ checkpoint, tip, line int }

// place finds the checkpoints whose places are in the transcript, and gives the others. The first of left is in it.
func (s *talkSource) place(ctx context.Context, p *project.Project, all []manifest.Checkpoint, left []int) (rest []int, err error) {
	if s.x, err = indexOf(ctx, p, s.c); err != nil {
		return nil, p.Classify(err)
	}
	number := make(map[string]int, len(s.x.Lines))
	for i := range s.x.Lines {
		number[s.x.Lines[i].ID] = i
	}
	on := make([]map[int]bool, 0, 1)
	for k, i := range left {
		t := all[i].Transcript
		leaf := t.EventID
		if _, ok := s.x.Line(leaf); !ok || t.Agent != s.c.Transcript.Agent {
			if k > 0 {
				rest = append(rest, i)
				continue
			}
			leaf = s.x.Leaf()
		}
		if leaf == "" {
			continue // there is no message yet
		}
		line := number[leaf]
		tip := slices.IndexFunc(on, func(lines map[int]bool) bool { return lines[line] })
		if tip < 0 {
			lines, err := s.x.Along(leaf)
			if err != nil {
				return nil, err
			}
			set := make(map[int]bool, len(lines))
			for _, l := range lines {
				set[l] = true
			}
			tip = len(on)
			s.tips, on = append(s.tips, lines), append(on, set)
		}
		s.ends = append(s.ends, talkEnd{i, tip, line})
	}
	return rest, nil
}

// read numbers the messages, and finds the place of each checkpoint among them.
func (s *talkSource) read(ctx context.Context, p *project.Project, numbered *int, each func(int, Message) error) error {
	wanted := make([]bool, len(s.x.Lines))
	for _, lines := range s.tips {
		for _, l := range lines {
			wanted[l] = true
		}
	}
	r, err := Open(ctx, p, s.c)
	if err != nil {
		return p.Classify(err)
	}
	defer r.Close()
	in := newMessageReader(s.x.Agent, cancellable{ctx, r})
	number := make([]int, len(s.x.Lines)) // numbers of messages, from 1
	for i := range s.x.Lines {
		if !wanted[i] {
			continue
		}
		m, err := in.read(&s.x.Lines[i])
		if err != nil {
			return p.Classify(err)
		}
		if len(m.Parts) == 0 {
			continue
		}
		for k := range m.Parts {
			m.Parts[k].Text = strings.Clone(m.Parts[k].Text)
		}
		m.At = *numbered
		if err := each(m.At, m); err != nil {
			return err
		}
		*numbered++
		number[i] = *numbered
	}
	first := len(s.out.Lists)
	spoken := make([][]int, len(s.tips)) // lines of each branch that say something
	for i, lines := range s.tips {
		list := make([]int, 0, len(lines))
		for _, l := range lines {
			if number[l] > 0 {
				list, spoken[i] = append(list, number[l]-1), append(spoken[i], l)
			}
		}
		s.out.Lists = append(s.out.Lists, list)
	}
	for _, e := range s.ends {
		n, _ := slices.BinarySearch(spoken[e.tip], e.line+1)
		s.out.At[e.checkpoint] = BranchPlace{first + e.tip, n}
	}
	return nil
}
