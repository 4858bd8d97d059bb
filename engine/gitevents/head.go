package gitevents

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// head adds what the lines say that HEAD's reflog gained.
func (c *comparison) head() error {
	was, err := c.headOf(&c.a)
	if err != nil {
		return err
	}
	is, err := c.headOf(&c.b)
	if err != nil {
		return err
	}
	last := was
	if was.Target != "" {
		if last, err = c.ref(&c.a, was.Target); err != nil {
			return err
		}
	}
	lines, before, err := c.headLog(last.ID)
	if err != nil {
		return err
	}
	h := headLines{comparison: c, branch: was.Target, lines: lines, before: before}
	for i := range lines {
		if err := h.take(i); err != nil {
			return err
		}
	}
	if len(lines) > 0 || was == is {
		return nil
	}
	switch { // no reflog is kept, or it was written anew
	case was.Target != "" && is.Target != "", was.Target != is.Target:
		c.add(Event{Kind: Switch, From: placeOf(was), To: placeOf(is)})
	default:
		c.add(Event{Kind: Moved, From: was.ID, To: is.ID, Count: 1})
	}
	return nil
}

// placeOf is what git calls the place of HEAD.
func placeOf(head gitrepo.Ref) string {
	if head.Target != "" {
		return strings.TrimPrefix(head.Target, branches)
	}
	return head.ID
}

func (c *comparison) headOf(of *side) (gitrepo.Ref, error) {
	text, _, err := c.file(of, c.own("HEAD"))
	return gitrepo.ParseRef(text), err
}

// headLines reads the lines of HEAD's reflog in their order.
type headLines struct {
	*comparison
	branch string // that HEAD is on, in full; "" for none
	lines  []gitrepo.LogEntry
	before []byte // what is in front of them, not read yet
}

// names are those of an event that HEAD's branch took part in.
func (h *headLines) names() []string {
	if h.branch == "" {
		return nil
	}
	return []string{h.branch}
}

// take adds the event of a line. Its message is "action: text".
func (h *headLines) take(i int) error {
	e := h.lines[i]
	action, text, _ := strings.Cut(e.Message(), ": ")
	event := Event{Names: h.names(), From: e.Old, To: e.ID, Count: 1, Text: text, Time: e.Time()}
	if h.branch != "" && e.Old != e.ID {
		h.moved[h.branch] = true
	}
	verb, _, _ := strings.Cut(action, " ")
	switch {
	case action == "checkout":
		return h.switched(event, text)
	case verb == "rebase" || strings.Contains(action, "--rebase"):
		return h.rebased(event, action, text)
	case e.Old == e.ID && verb != "commit":
		if from, to, ok := renamed(e.Message()); ok {
			h.rename(from, to, e)
			h.branch = to
		}
		return nil // of a stash, a reset to where HEAD is, or a merge of what is there
	case action == "commit (amend)":
		event.Kind = Amend
	case action == "commit (merge)":
		event.Kind, event.From = Merge, ""
	case verb == "commit", verb == "cherry-pick", verb == "revert", verb == "am":
		event.Kind = Commit
	case verb == "merge":
		event.Kind, event.From, event.Text = Merge, strings.TrimPrefix(action, "merge "), ""
	case verb == "pull":
		event.Kind, event.Text = Pull, ""
	case verb == "reset":
		event.Kind, event.Text = Reset, ""
		event.Count = h.fewer(i)
	case verb == "Branch":
		if from, to, ok := renamed(e.Message()); ok {
			h.rename(from, to, e)
			h.branch = to
		}
		return nil
	default:
		event.Kind, event.Text = Moved, e.Message()
	}
	if (event.Kind == Commit || event.Kind == Amend) && strings.Trim(event.From, "0") == "" {
		event.From = "" // the first one of the branch
	}
	h.add(event)
	return nil
}

// switched adds "moving from main to topic".
func (h *headLines) switched(e Event, text string) error {
	from, to, ok := strings.Cut(strings.TrimPrefix(text, "moving from "), " to ")
	if !ok {
		return nil
	}
	branch := branches + to
	before, now, err := h.both(branch)
	if err != nil {
		return err
	}
	h.branch = branch
	if !before && !now {
		if h.branch, err = h.vanished(to); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	e.Kind, e.Names, e.From, e.To, e.Text, e.Count = Switch, nil, from, to, "", 0
	if e.New = !before && now && !h.explained[branch]; e.New {
		h.explained[branch] = true
	}
	h.add(e)
	return nil
}

// both reports on which sides a reference is there.
func (c *comparison) both(name string) (before, now bool, err error) {
	was, err := c.ref(&c.a, name)
	if err != nil {
		return false, false, err
	}
	is, err := c.ref(&c.b, name)
	return was != gitrepo.Ref{}, is != gitrepo.Ref{}, err
}

// vanished is the branch that came and went between the two sides, if HEAD went to one; "" for a commit, a tag, or a branch
// of a remote.
func (h *headLines) vanished(place string) (string, error) {
	if strings.ContainsAny(place, "~^@:") || len(place) >= minID && strings.Trim(place, "0123456789abcdef") == "" {
		return "", nil
	}
	for _, of := range []string{"refs/tags/", "refs/remotes/", "refs/", ""} {
		before, now, err := h.both(of + place)
		if before || now || err != nil {
			return "", err
		}
	}
	return branches + place, nil
}

// minID is how many digits the beginning of a commit's id has at least.
const minID = 4

// rebased adds a line of a rebase to its event: "rebase (pick): Fix the test", "rebase (finish): returning to refs/heads/main".
// An older git writes "rebase: Fix the test" and "rebase finished: …".
func (h *headLines) rebased(e Event, action, text string) error {
	step := "pick"
	if _, in, ok := strings.Cut(action, "("); ok {
		step = strings.TrimSuffix(in, ")")
	} else if strings.HasSuffix(action, "finished") {
		step = "finish"
	}
	n := len(h.events) - 1
	if n < 0 || h.events[n].Kind != RebaseBegun {
		begun := e
		begun.Kind, begun.Count, begun.Text = RebaseBegun, 0, ""
		if h.branch != "" {
			delete(h.moved, h.branch) // it moves at the end
		}
		h.events = append(h.events, begun)
		n++
	}
	of := &h.events[n]
	of.To, of.Time = e.To, e.Time
	switch step {
	case "pick", "reword", "edit", "continue":
		of.Count++
		of.Text = text
	case "finish", "abort":
		of.Kind = Rebase
		if step == "abort" {
			of.Kind, of.Count = RebaseAborted, 0
		}
		if back, ok := strings.CutPrefix(text, "returning to "); ok && strings.HasPrefix(back, branches) {
			h.branch = back
			of.Names = h.names()
			h.moved[back] = true
		}
	}
	return nil
}

// fewer is how many commits lie between the two sides of a reset, 0 where the lines before do not say that.
func (h *headLines) fewer(i int) (n int) {
	id, to := h.lines[i].Old, h.lines[i].ID
	all := append(gitrepo.ParseLog(h.before), h.lines[:i]...)
	for _, e := range slices.Backward(all) {
		if id == to {
			break
		}
		if e.ID != id || e.Old == e.ID {
			continue
		}
		action, _, _ := strings.Cut(e.Message(), ": ")
		switch action {
		case "checkout":
		case "commit", "cherry-pick", "revert", "am", "rebase (pick)":
			n++
			id = e.Old
		default:
			return 0
		}
	}
	if id != to {
		return 0
	}
	return n
}

// renamed reads "Branch: renamed refs/heads/a to refs/heads/b".
func renamed(message string) (from, to string, ok bool) {
	rest, ok := strings.CutPrefix(message, "Branch: renamed ")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, " to ")
}

func (c *comparison) rename(from, to string, e gitrepo.LogEntry) {
	if c.explained[to] {
		return
	}
	c.explained[to], c.explained[from] = true, true
	c.events = append(c.events, Event{Kind: Renamed, Names: []string{to}, From: from, Count: 1, Time: e.Time()})
}

// inProgress adds a merge that waits: HEAD's reflog says nothing of it yet.
func (c *comparison) inProgress() {
	if ch, ok := c.changed[c.own("MERGE_HEAD")]; ok && ch.Old == nil {
		c.events = append(c.events, Event{Kind: MergeBegun, Count: 1})
	}
}
