package transcript

import "slices"

// Prompts returns the numbers of the lines that are prompts of the person on
// the way to leaf, newest first: prompt 1 is the first of them.
func (x *Index) Prompts(leaf string) ([]int, error) {
	chain, err := x.Chain(leaf)
	if err != nil {
		return nil, err
	}
	var prompts []int
	for i := len(chain) - 1; i >= 0; i-- {
		if x.Lines[chain[i]].Prompt {
			prompts = append(prompts, chain[i])
		}
	}
	return prompts, nil
}

// Reverted returns the prompts that a cut from one leaf to another takes back,
// newest first.
func (x *Index) Reverted(from, to string) ([]int, error) {
	prompts, err := x.Prompts(from)
	if err != nil {
		return nil, err
	}
	kept, err := x.Chain(to)
	if err != nil {
		return nil, err
	}
	stays := make(map[int]bool, len(kept))
	for _, i := range kept {
		stays[i] = true
	}
	var out []int
	for _, i := range prompts {
		if !stays[i] {
			out = append(out, i)
		}
	}
	return out, nil
}

// SameMessages reports whether the ways to two events have the same messages. What else clients write, such as the
// summary of a stop's hooks, does not count.
func (x *Index) SameMessages(a, b string) bool {
	if a == b {
		return true
	}
	messages := func(leaf string) ([]int, error) {
		lines, err := x.Along(leaf)
		return slices.DeleteFunc(lines, func(i int) bool { return !x.Lines[i].message() }), err
	}
	here, err := messages(a)
	there, other := messages(b)
	return err == nil && other == nil && slices.Equal(here, there)
}

// PromptBefore returns the event before the n-th last prompt on the way to
// leaf, n from 1 on. Errors: *FewPromptsError, *NothingBeforeError.
func (x *Index) PromptBefore(leaf string, n int) (string, error) {
	prompts, err := x.Prompts(leaf)
	if err != nil {
		return "", err
	}
	if n < 1 || n > len(prompts) {
		return "", &FewPromptsError{Asked: n, Have: len(prompts)}
	}
	return x.before(prompts[n-1])
}

// BeforePromptID returns the event before the prompt with this id. Where
// several have it (a client's own fork gives all prompts the same one), the
// newest on the way to leaf counts, then the newest of the file.
func (x *Index) BeforePromptID(leaf, promptID string) (string, error) {
	chain, err := x.Chain(leaf)
	if err != nil {
		return "", err
	}
	first := -1
	for i := len(chain) - 1; i >= 0 && promptID != ""; i-- {
		if l := &x.Lines[chain[i]]; l.PromptID == promptID {
			if first = chain[i]; l.Prompt {
				return x.before(first)
			}
		}
	}
	if first >= 0 { // a row that is no prompt, like a command of the shell mode
		return x.before(first)
	}
	for i := len(x.Lines) - 1; i >= 0 && promptID != ""; i-- {
		if l := &x.Lines[i]; l.Prompt && l.PromptID == promptID {
			return x.before(i)
		}
	}
	return "", &NoEventError{"prompt", promptID}
}

// Before returns the event before another one, as the place to cut. Errors:
// *NoEventError, *NothingBeforeError.
func (x *Index) Before(id string) (string, error) {
	i, ok := x.byID[id]
	if !ok {
		return "", &NoEventError{"event", id}
	}
	return x.before(int(i))
}

// Call is the number of the line that holds a tool call.
func (x *Index) Call(toolUseID string) (int, bool) {
	i, ok := x.tool[toolUseID]
	return int(i), ok
}

// BeforeTool returns the event before the assistant message that holds the
// tool call: before the first of its lines, so that no part of it is left.
func (x *Index) BeforeTool(toolUseID string) (string, error) {
	i, ok := x.tool[toolUseID]
	if !ok {
		return "", &NoEventError{"tool call", toolUseID}
	}
	return x.before(x.messageStart(int(i)))
}

// At returns the event itself as the place to cut, if it can be resumed.
func (x *Index) At(id string) (string, error) {
	if _, ok := x.byID[id]; !ok {
		return "", &NoEventError{"event", id}
	}
	return id, x.resumable(id)
}

// messageStart goes up from a line to the first one of the same message.
func (x *Index) messageStart(i int) int {
	for seen := 0; seen < len(x.Lines); seen++ {
		l := &x.Lines[i]
		p, ok := x.byID[l.Parent]
		if !ok || l.Parent == "" || l.Message == "" || x.Lines[p].Message != l.Message {
			break
		}
		i = int(p)
	}
	return i
}

// before returns the parent of a line, if it can be resumed.
func (x *Index) before(i int) (string, error) {
	parent := x.Lines[i].Parent
	if _, ok := x.byID[parent]; !ok {
		return "", &NothingBeforeError{}
	}
	return parent, x.resumable(parent)
}

// resumable reports a chain without any message: no client opens it.
func (x *Index) resumable(leaf string) error {
	chain, err := x.Chain(leaf)
	if err != nil {
		return err
	}
	f, _ := x.Agent.format()
	for _, i := range chain {
		if l := &x.Lines[i]; l.Prompt || l.Role == Assistant || l.is(isSummary) || f.opens != nil && f.opens(l) {
			return nil
		}
	}
	return &NothingBeforeError{}
}
