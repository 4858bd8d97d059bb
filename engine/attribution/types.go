package attribution

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// Class says how an owner is known.
type Class string

const (
	Declared  Class = "declared"  // the call named the path
	Outside   Class = "outside"   // no agent's: the person, or a program of theirs
	Shell     Class = "shell"     // a command, or another call that does not say what it writes, ran then; the person may have written, too
	Shared    Class = "shared"    // several could have
	Operation Class = "operation" // a restore, an undo, a revert of the person's: known exactly
)

// Work is one call of an agent's, the turn of an agent that does not tell of its calls, or an operation.
type Work struct {
	Agent, Session, Subagent string
	PromptID, Prompt         string // Prompt as it was typed, whole
	Tool, Call, Summary      string // Call is the agent's id of it; of an operation, Tool is its verb
	Start, End               time.Time
	Operation                uint64 // its sequence number; 0 of a call
}

// Owner is who made a step.
type Owner struct {
	Class       Class
	By          *Work   // the likeliest; nil: outside
	Also        []*Work // who else could have, or wrote before it in the same interval
	AlsoOutside bool    // the person could have, too
	Each        bool    // of several steps: each of them is known to have made one, and none only could have
}

// Of asks whose a step is: all of it, as far as is known, of work that matches, or some of it. Of a shell's
// step the person's share is not counted.
func (o *Owner) Of(match func(*Work) bool) (all, some bool) {
	all = o.By != nil && match(o.By) && (!o.AlsoOutside || o.Class != Shared)
	some = o.By != nil && match(o.By)
	for _, w := range o.Also {
		if match(w) {
			some = true
		} else {
			all = false
		}
	}
	return all, some
}

// Maker is who made a step as far as anybody is named for it: nil for the person. one is false where several could
// have, and none is known to. Of a shell's step the person's share is not counted.
func (o *Owner) Maker() (by *Work, one bool) {
	if o.Class != Shared {
		return o.By, true
	}
	if o.By == nil || o.AlsoOutside {
		return nil, false
	}
	for _, w := range o.Also {
		if w.source().main() != o.By.source().main() {
			return nil, false
		}
	}
	return o.By, true
}

// Version is a path as one look at it found it.
type Version struct {
	Seq        uint64                // of the checkpoint, the operation or the touch; ThenNow for the working tree; 0 before all
	Checkpoint manifest.CheckpointID // zero for all but a checkpoint
	Time       time.Time
	Entry      *manifest.Entry // nil: nothing there. Of a directory, kind and mode alone count
}

// ThenNow is the Seq of the present working tree.
const ThenNow = math.MaxUint64

// Step is one change of a path, between two looks at it: To differs from From. An operation that brings an
// earlier state back has that state's entry.
type Step struct {
	Path     string
	From, To Version
	Edit     bool // an edit tool left it so
	// Written is when the path was written last, as the look that found To saw it; Again, as a later checkpoint did, which found the
	// same. Zero: not known, or not again.
	Written, Again time.Time
	// Back is up to where the log had come in the state that an operation says it brought back; 0: not known, or no operation's.
	Back uint64
	Owner
}

// Returned finds which of the first n versions of a path an operation's step brought back, of those that are the same: the newest
// that the state had to which it went, else the newest; -1 for none. made gives the step that made a version, nil for the oldest.
func (s *Step) Returned(n int, made func(int) *Step, same func(int) bool) int {
	newest := -1
	for k := n - 1; k >= 0; k-- {
		if !same(k) {
			continue
		}
		if by := made(k); s.Back == 0 || by == nil || by.To.Seq <= s.Back {
			return k
		}
		newest = max(newest, k)
	}
	return newest
}

// Found reports whether the state before the step is unknown: the first look found the path. An owner says who may have made a part
// of it.
func (s *Step) Found() bool { return s.From.Seq == 0 && s.From.Entry == nil }

// Works are all that could have made it, the likeliest first.
func (o *Owner) Works() []*Work {
	if o.By == nil {
		return o.Also
	}
	return append([]*Work{o.By}, o.Also...)
}

// Together is the owner of some steps of one path, oldest first, as if they were one: the newest's, and also
// the others'. What an operation went back behind has no part in it.
func Together(steps []Step) Owner {
	if len(steps) == 0 {
		return Owner{Class: Outside}
	}
	steps = inEffect(steps)
	o := steps[len(steps)-1].Owner
	o.Also = slices.Clone(o.Also)
	o.Each = len(steps) > 1 && !slices.ContainsFunc(steps, func(s Step) bool { return !s.known() })
	for _, s := range slices.Backward(steps[:len(steps)-1]) {
		o.AlsoOutside = o.AlsoOutside || s.By == nil || s.AlsoOutside
		for _, w := range s.Works() {
			if w != o.By && !slices.Contains(o.Also, w) {
				o.Also = append(o.Also, w)
			}
		}
	}
	if o.By == nil {
		o.AlsoOutside = false
	}
	o.share()
	return o
}

// known reports whether all that are named for it had a part in it.
func (o *Owner) known() bool {
	return o.Each || o.Class != Shared && !o.AlsoOutside && (len(o.Also) == 0 || o.Class == Declared)
}

// Several is the owner of what happened to several paths: the newest step's, and also the others'.
func Several(steps []Step) Owner {
	all := slices.Clone(steps)
	slices.SortStableFunc(all, func(x, y Step) int { return cmp.Compare(x.To.Seq, y.To.Seq) })
	all = inEffect(all)
	o := Together(all)
	if o.By != nil && slices.ContainsFunc(all, func(s Step) bool { return s.By == nil }) {
		o.Class = Shared // one of them is the person's
	}
	return o
}

// inEffect leaves out what an operation took back: what lies between it and an earlier state that it went to, and itself.
// Where nothing is left, all of them stay.
func inEffect(steps []Step) []Step {
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.Class == Operation }) {
		return steps
	}
	// What each step left is what another one had made, or none what was there before all.
	const none = -1
	made, before := make([]int, len(steps)), make([]int, len(steps))
	of := map[string][]int{} // steps by path
	for i := range steps {
		s := &steps[i]
		own := of[s.Path]
		made[i], before[i] = i, none
		if len(own) > 0 {
			before[i] = made[own[len(own)-1]]
		}
		if s.Class == Operation && len(own) > 0 {
			by := func(k int) *Step {
				if k == 0 {
					return nil
				}
				return &steps[own[k-1]]
			}
			k := s.Returned(len(own)+1, by, func(k int) bool {
				if k == 0 {
					return alike(steps[own[0]].From.Entry, s.To.Entry)
				}
				return alike(by(k).To.Entry, s.To.Entry)
			})
			if k > 0 {
				made[i] = made[own[k-1]]
			} else if k == 0 {
				made[i] = none
			}
		}
		of[s.Path] = append(own, i)
	}
	stands := make([]bool, len(steps))
	for _, own := range of {
		for i := made[own[len(own)-1]]; i != none; i = before[i] {
			stands[i] = true
		}
	}
	var left []Step
	for i, s := range steps {
		if stands[i] {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return steps
	}
	return left
}

// share makes the owner that of several where work of another turn could have made it, too.
func (o *Owner) share() {
	for _, w := range o.Also {
		if o.Class != Operation && (o.By == nil || w.source().main() != o.By.source().main() || w.PromptID != o.By.PromptID) {
			o.Class = Shared
		}
	}
}
