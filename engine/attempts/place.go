package attempts

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// places groups prompts by the place that they were typed at.
type places struct {
	l      *log
	leader map[uint64]uint64                // by a prompt's sequence number: the oldest known of its place, perhaps over others
	loose  map[manifest.CheckpointID]uint64 // of a state within a turn, or one that is gone: the first prompt typed there
}

func (g *places) find(seq uint64) uint64 {
	for {
		up, ok := g.leader[seq]
		if !ok || up == seq {
			return seq
		}
		seq = up
	}
}

func (g *places) join(a, b uint64) {
	a, b = g.find(a), g.find(b)
	if a > b {
		a, b = b, a
	}
	if a != b {
		g.leader[b] = a
	}
}

// members are the prompts of each place, oldest first, by the oldest.
func (g *places) members() map[uint64][]*manifest.Checkpoint {
	all := map[uint64][]*manifest.Checkpoint{}
	for _, c := range g.l.prompts {
		at := g.find(c.Seq)
		all[at] = append(all[at], c)
	}
	return all
}

// target is where an operation went: to before a prompt, or to another state.
type target struct {
	prompt  uint64 // sequence number, 0 for none
	id      manifest.CheckpointID
	session string // whose state it is, "" for a person's own
	op      *manifest.Operation
}

// group joins the prompts that were typed after an operation had gone back to before another. part reports
// whether an operation brought less than its checkpoint.
func group(l *log, part func(*manifest.Operation, *manifest.Checkpoint) bool) *places {
	g := &places{l: l, leader: map[uint64]uint64{}, loose: map[manifest.CheckpointID]uint64{}}
	var waits *target // for the next prompt
	before := map[uint64]*target{}
	seen := map[sessionKey]bool{} // that have had a prompt
	for _, e := range l.events {
		if op := e.op; op != nil {
			before[op.Seq] = waits
			if op.PutsBack() {
				continue
			}
			switch op.Kind {
			case manifest.OpUndoRestore, manifest.OpRedoRestore:
				waits = before[op.Undoes]
			case manifest.OpRestore, manifest.OpUndo:
				if t := g.target(op, part); t != nil {
					waits = t
				}
			}
			continue
		}
		c := e.c
		if !l.isTyped[c.Seq] {
			continue
		}
		fresh := !seen[sessionOf(c)]
		seen[sessionOf(c)] = true
		if t := waits; t != nil && (fresh || t.session == "" || c.Session == t.session || c.Session == t.op.Session || l.related(c.Session, t.session)) {
			waits = nil
			switch first, ok := g.loose[t.id]; {
			case t.prompt != 0:
				g.join(t.prompt, c.Seq)
			case ok:
				g.join(first, c.Seq)
			default:
				g.loose[t.id] = c.Seq
			}
		}
	}
	return g
}

// target finds what an operation went to; nil where it is no way back to a place: it brought a part, or
// it is not known to what.
func (g *places) target(op *manifest.Operation, part func(*manifest.Operation, *manifest.Checkpoint) bool) *target {
	if op.Checkpoint == (manifest.CheckpointID{}) {
		return nil
	}
	t := &target{id: op.Checkpoint, op: op}
	c := g.l.byID[op.Checkpoint]
	if c == nil {
		return t
	}
	if op.After != (oid.ID{}) && op.After != c.Root && part(op, c) {
		return nil
	}
	t.session = c.Session
	if p := g.promptAt(c); p != nil {
		t.prompt, t.session = p.Seq, p.Session
	}
	return t
}

// promptAt is the prompt before which the state of a checkpoint is the tree; nil within a turn that
// had changed something.
func (g *places) promptAt(c *manifest.Checkpoint) *manifest.Checkpoint {
	prompts := g.l.prompts
	i, found := slices.BinarySearchFunc(prompts, c, compareSeq)
	if found {
		return prompts[i]
	}
	own := func(p *manifest.Checkpoint) bool { return c.Session == "" || sessionOf(p) == sessionOf(c) }
	for _, p := range slices.Backward(prompts[:i]) {
		if !own(p) {
			continue
		}
		if c.Session != "" && c.Kind != manifest.Stop && c.Kind != manifest.SessionEnd && p.Root == c.Root {
			return p
		}
		break
	}
	for _, p := range prompts[i:] {
		if own(p) {
			if p.Root == c.Root {
				return p
			}
			break
		}
	}
	return nil
}
