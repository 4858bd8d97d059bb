package transcript

import (
	"maps"
	"slices"
)

// Selection is which lines of a transcript lead to an event: what a fork or an
// in-place restore consists of.
type Selection struct {
	// Leaf is the event at which the conversation ends. It lies before the one
	// asked for where that would have left a tool call without its result.
	Leaf  string
	Lines []int // in file order
	last  int   // the newest message line, whose time the session is listed by
}

// Cut selects the lines that lead to leaf. These are its ancestors and, since
// clients hang parallel calls and their results beside the way, the other lines
// of the assistant messages on it, and the results of their tool calls. If the
// last message's calls are not all answered it goes, whole. What hangs on leaf
// itself came later and never counts.
// Errors: *NoEventError, *NothingBeforeError.
func (x *Index) Cut(leaf string) (Selection, error) {
	for {
		if _, ok := x.byID[leaf]; !ok {
			if leaf == "" {
				return Selection{}, &NothingBeforeError{}
			}
			return Selection{}, &NoEventError{"event", leaf}
		}
		if err := x.resumable(leaf); err != nil {
			return Selection{}, err
		}
		chain, err := x.Chain(leaf)
		if err != nil {
			return Selection{}, err
		}
		in := x.complete(chain, leaf)
		if i, open := x.openCall(chain, leaf, in); open {
			if leaf, err = x.before(i); err != nil {
				return Selection{}, err
			}
			continue
		}
		sel := Selection{Leaf: leaf, last: -1}
		if f, _ := x.Agent.format(); f.whole {
			sel.Leaf, sel.Lines = x.upTo(leaf)
		} else {
			sel.Lines = sorted(in)
		}
		for _, i := range chain {
			if x.Lines[i].Role != NoRole {
				sel.last = i
			}
		}
		return sel, nil
	}
}

// Along are the lines that lead to an event, in file order, as Cut selects them, but with a call that has
// no result. Error: *NoEventError.
func (x *Index) Along(leaf string) ([]int, error) {
	if leaf == "" {
		return nil, nil
	}
	chain, err := x.Chain(leaf)
	if err != nil {
		return nil, err
	}
	if f, _ := x.Agent.format(); f.whole {
		_, lines := x.upTo(leaf)
		return lines, nil
	}
	return sorted(x.complete(chain, leaf)), nil
}

func sorted(in map[int]bool) []int { return slices.Sorted(maps.Keys(in)) }

// upTo selects all events of the file up to one, and what the client noted after it
// before it went on.
func (x *Index) upTo(leaf string) (last string, lines []int) {
	end := int(x.byID[leaf])
	for i := range x.Lines {
		l := &x.Lines[i]
		if i > end && (!l.tree() || l.Prompt || l.Role != NoRole || l.Message != "" || l.Parent != last) {
			break
		}
		if l.tree() {
			last, lines = l.ID, append(lines, i)
		}
	}
	return last, lines
}

// withPreserved adds to a chain what the compactions on it preserve, each with the way to it, as the client
// reads it.
func (x *Index) withPreserved(chain []int) []int {
	all := chain
	for _, i := range chain {
		for _, id := range x.preserved[x.Lines[i].ID] {
			if way, err := x.Chain(id); err == nil {
				all = append(all, way...)
			}
		}
	}
	return all
}

// complete adds to a chain what belongs to its messages but lies beside it.
func (x *Index) complete(chain []int, leaf string) map[int]bool {
	in := make(map[int]bool, len(chain))
	messages := map[string]bool{}
	for _, i := range x.withPreserved(chain) {
		in[i] = true
		if l := &x.Lines[i]; l.Role == Assistant && l.Message != "" {
			messages[l.Message] = true
		}
	}
	if len(messages) > 0 {
		// The siblings' parents may be siblings themselves; a line comes
		// after its parent in all but mangled files.
		for i := range x.Lines {
			l := &x.Lines[i]
			if p, ok := x.byID[l.Parent]; ok && in[int(p)] && l.tree() && l.Parent != leaf && !l.Side && l.Role == Assistant && messages[l.Message] {
				in[i] = true
			}
		}
	}
	for i := range x.Lines {
		if !in[i] {
			continue
		}
		for _, id := range x.Lines[i].ToolUses {
			if answer, ok := x.answer(id, leaf, in); ok {
				in[answer] = true
			}
		}
	}
	return in
}

// answer finds the line that answers a tool call: one that is selected, else
// the newest whose parent is selected.
func (x *Index) answer(call, leaf string, in map[int]bool) (line int, ok bool) {
	line = -1
	for _, i := range x.done[call] {
		if in[int(i)] {
			return int(i), true
		}
		l := &x.Lines[i]
		if p, has := x.byID[l.Parent]; has && in[int(p)] && l.Parent != leaf && !l.Side {
			line = int(i)
		}
	}
	return line, line >= 0
}

// openCall looks for the last assistant message on the chain; open says that it
// has a call without a result. Older ones stay as the client left them: it
// repairs an interrupted call itself when it continues.
func (x *Index) openCall(chain []int, leaf string, in map[int]bool) (first int, open bool) {
	for k := len(chain) - 1; k >= 0; k-- {
		l := &x.Lines[chain[k]]
		if l.Prompt {
			return 0, false
		}
		if l.Role != Assistant {
			continue
		}
		first = x.messageStart(chain[k])
		for i := range in {
			m := &x.Lines[i]
			if i != chain[k] && (m.Role != Assistant || m.Message == "" || m.Message != l.Message) {
				continue
			}
			for _, id := range m.ToolUses {
				if _, ok := x.answer(id, leaf, in); !ok {
					return first, true
				}
			}
		}
		return first, false
	}
	return 0, false
}
