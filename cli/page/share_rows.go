package page

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// sharedPart gathers answers for a block.
type sharedPart struct {
	x     *sharing
	list  *[]sharedAt
	first int
	size  int
	all   map[int]json.RawMessage
}

func (b *sharedPart) add(n int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b.all) == 0 {
		b.first, b.all = n, map[int]json.RawMessage{}
	}
	b.all[n] = data
	if b.size += len(data); b.size >= sharedBlock {
		return b.end()
	}
	return nil
}

func (b *sharedPart) end() error {
	if len(b.all) == 0 {
		return nil
	}
	block, err := b.x.page.Block(b.all)
	*b.list = append(*b.list, sharedAt{b.first, block})
	b.all, b.size = nil, 0
	return err
}

// looks writes the rows with what each changed.
func (x *sharing) looks(ctx context.Context, written *countingWriter) error {
	report := x.progress(ctx, "export")
	part := sharedPart{x: x, list: &x.index.Looks}
	var o attribution.Options
	for _, r := range x.rows {
		if r.To != nil && r.From != nil && r.From.Seq > 0 && (o.From == 0 || r.From.Seq < o.From) {
			o.From = r.From.Seq
		}
	}
	owners, err := attribution.New(ctx, x.p, o)
	if err != nil {
		return err
	}
	now := x.c.Out.Now()
	for at := 0; at < len(x.rows); at += sharedAtOnce {
		some := x.rows[at:min(at+sharedAtOnce, len(x.rows))]
		owned := make([]rows.Owned, len(some))
		err := owners.Ask(func() (err error) {
			for i, r := range some {
				if owned[i], err = rows.RowOwned(owners, r); err != nil && !project.IsDamage(err) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, r := range some {
			if err := report(at + i); err != nil {
				return err
			}
			x.clean(r)
			counts, known := r.Known()
			if !known {
				if counts, known, err = r.Count(ctx, x.p, nil); err != nil {
					return err
				}
			}
			v := viewRow(picker.Row(r, counts, known, now), r, x.p.Root())
			if known {
				v.Changes = &counts
			}
			x.index.Timeline.Rows = append(x.index.Timeline.Rows, v)
			look, err := x.look(ctx, at+i, r, x.cleanOwners(owned[i]), written.n < sharedLooks)
			if err != nil {
				return err
			}
			if err := part.add(at+i, look); err != nil {
				return err
			}
		}
	}
	if err := part.end(); err != nil {
		return err
	}
	return report(len(x.rows))
}

// clean takes secrets out of the texts of a row, before any of them is cut.
func (x *sharing) clean(r *timeline.Row) {
	for _, l := range []**project.Listed{&r.Checkpoint, &r.Target} {
		if *l == nil {
			continue
		}
		own := **l // others may have it too
		*l = &own
		own.Prompt, own.Description, own.Name = x.redact.text(own.Prompt), x.redact.text(own.Description), x.redact.text(own.Name)
		own.ToolSummary = x.redact.summary(own.ToolSummary, x.p.Root())
	}
	r.Text, r.Ends = x.redact.text(r.Text), x.redact.text(r.Ends)
	r.Tool, r.Summary = x.redact.text(r.Tool), x.redact.summary(r.Summary, x.p.Root())
}

// cleanWork does the same for an agent's work; nil stays nil.
func (x *sharing) cleanWork(w *attribution.Work) *attribution.Work {
	if w == nil {
		return nil
	}
	if x.works[w] == nil {
		own := *w
		own.Prompt, own.Tool, own.Summary = x.redact.text(w.Prompt), x.redact.text(w.Tool), x.redact.summary(w.Summary, x.p.Root())
		x.works[w] = &own
	}
	return x.works[w]
}

// cleanOwners does that for who changed what.
func (x *sharing) cleanOwners(all rows.Owned) rows.Owned {
	out := make(rows.Owned, len(all))
	for path, o := range all {
		o.By = x.cleanWork(o.By)
		also := make([]*attribution.Work, len(o.Also))
		for i, w := range o.Also {
			also[i] = x.cleanWork(w)
		}
		o.Also = also
		out[path] = o
	}
	return out
}

// look is what a row changed, without what is precious or too long.
func (x *sharing) look(ctx context.Context, n int, r *timeline.Row, whose rows.Owned, room bool) (filesView, error) {
	out := filesView{Title: picker.LookTitle(r), Files: []fileDiffView{}}
	files, err := x.src.OwnFiles(ctx, r)
	if err != nil {
		return out, err
	}
	left, by := sharedLook, whose.Text("", false)
	for i, f := range files {
		if f.Hidden || f.Precious() || x.redact.precious(f.Path) {
			x.redact.leftOut[f.Path] = true
			continue
		}
		v := viewFileDiff(f)
		if x.redact.secrets(v.Path, 0) != v.Path {
			continue // its name alone says it
		}
		if len(out.Files) == sharedFiles {
			out.More = true
			x.cut++
			break
		}
		v.By = by(f.Path)
		v.Patch = x.redact.patch(v.Patch)
		bound := min(sharedPatch, left)
		if !room {
			bound = 0
		}
		if len(v.Patch) > bound || f.Patch == "" && i >= picker.MostPatched {
			v.Patch, v.Cut = wholeLines(v.Patch, bound), true
			x.cut++
		}
		left -= len(v.Patch)
		if mixed(whose[f.Path]) && v.Patch != "" {
			if v.Whose, err = x.whose(ctx, r, f.Path, v.Patch); err != nil {
				return out, err
			}
		}
		key := v.Path
		if v.Path64 != "" {
			key = "//" + v.Path64
		}
		x.index.Files[key] = append(x.index.Files[key], n)
		out.Files = append(out.Files, v)
	}
	return out, nil
}

// whose returns the author of each line that the patch adds, or nothing if the row made all of them.
func (x *sharing) whose(ctx context.Context, r *timeline.Row, path, patch string) (out []lineRunView, err error) {
	if x.blamed == sharedBlames {
		return nil, nil // the file says who, too
	}
	x.blamed++
	runs, err := runsAfter(ctx, x.p, r, path)
	if project.IsDamage(err) {
		return nil, nil
	}
	came := addedLines(patch)
	for _, run := range runs {
		if run.Step != nil {
			step := *run.Step
			step.By = x.cleanWork(step.By)
			run.Step = &step
		}
		v := viewRun(r, run)
		if v.Own && v.Sure || !slices.ContainsFunc(came, func(n int) bool { return n >= v.Line && n < v.Line+v.Count }) {
			continue
		}
		out = append(out, v)
	}
	return out, err
}

// addedLines are the numbers of the lines that a patch brings.
func addedLines(patch string) (out []int) {
	at := 0 // 0: before the first hunk
	for line := range strings.Lines(patch) {
		if rest, ok := strings.CutPrefix(line, "@@ -"); ok {
			if _, rest, ok = strings.Cut(rest, " +"); ok {
				end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
				at, _ = strconv.Atoi(rest[:max(end, 0)])
				continue
			}
		}
		switch {
		case at == 0 || line[0] == '-' || line[0] == '\\':
		case line[0] == '+':
			out = append(out, at)
			at++
		default:
			at++
		}
	}
	return out
}

// wholeLines is as much of a text as fits.
func wholeLines(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:strings.LastIndexByte(s[:most], '\n')+1]
}

// talk writes the messages, each of them once.
func (x *sharing) talk(ctx context.Context, written *countingWriter) error {
	before := written.n
	part := sharedPart{x: x, list: &x.index.Messages}
	checkpoints := make([]manifest.Checkpoint, len(x.rows))
	for i, r := range x.rows {
		if l := picker.TalkOf(ctx, x.p, r); l != nil {
			checkpoints[i] = l.Checkpoint
		}
	}
	b, err := conversation.TalkBranches(ctx, x.p, checkpoints, func(n int, m conversation.Message) error {
		most := sharedText
		if written.n-before > sharedTalk {
			most = sharedShort
		}
		return part.add(n, x.message(m, most))
	})
	if err != nil {
		return err
	}
	x.index.Branches, x.unread = b.Lists, b.Unread
	for _, at := range b.At {
		x.index.Talk = append(x.index.Talk, [2]int{at.Branch, at.Messages})
	}
	if err := x.talkSince(ctx, checkpoints, &part); err != nil {
		return err
	}
	return part.end()
}

// talkSince writes what the agent's own file has after the newest checkpoint: a branch of its own, for the rows at its
// end.
func (x *sharing) talkSince(ctx context.Context, checkpoints []manifest.Checkpoint, part *sharedPart) error {
	newest := slices.IndexFunc(checkpoints, func(c manifest.Checkpoint) bool { return c.Transcript != nil })
	if newest < 0 || x.index.Talk[newest][0] < 0 {
		return nil
	}
	since, whole, err := conversation.TalkSince(ctx, x.p, checkpoints[newest], conversation.TalkOptions{})
	if err != nil {
		return err
	}
	x.partial = !whole
	if len(since) == 0 {
		return nil
	}
	end := x.index.Talk[newest]
	branch := slices.Clone(x.index.Branches[end[0]][:end[1]])
	next := 0 // number of a message
	for _, list := range x.index.Branches {
		for _, n := range list {
			next = max(next, n+1)
		}
	}
	for _, m := range since {
		v := x.message(m, sharedText)
		v.Since = true
		if err := part.add(next, v); err != nil {
			return err
		}
		branch = append(branch, next)
		next++
	}
	for i, at := range x.index.Talk {
		if at == end {
			x.index.Talk[i] = [2]int{len(x.index.Branches), len(branch)}
		}
	}
	x.index.Branches = append(x.index.Branches, branch)
	return nil
}

// message is one without secrets; its texts are cut afterwards, so that none is cut into a piece that is not known.
func (x *sharing) message(m conversation.Message, most int) messageView {
	root := x.p.Root()
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == transcript.ToolCall && x.redact.call(p.Call, p.Text, conversation.GivenTo(p.Text), root),
			p.Kind == transcript.ToolAnswer && p.Call != "" && x.redact.calls[p.Call]:
			p.Text = redactedMark
		}
	}
	v := viewMessage(m, x.calls, root)
	for i := range v.Parts {
		p := &v.Parts[i]
		p.Text, p.About, p.Tool = x.redact.text(p.Text), x.redact.text(p.About), x.redact.text(p.Tool)
		if len(p.Text) > most {
			p.Text, v.Cut = strings.ToValidUTF8(p.Text[:most], ""), true
			x.cut++
		}
		if len(p.About) > sharedShort { // only a line is shown
			p.About = strings.ToValidUTF8(p.About[:sharedShort], "")
		}
	}
	return v
}
