package page

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/graph"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Bounds of a file that is shared. A browser keeps all of it as text: 64 MiB open in a second or two, and a
// page of 10,000 checkpoints with usual edits has a tenth of that. A patch or a text beyond its bound is nothing
// that people read to its end.
const (
	sharedPatch  = 64 << 10       // bytes of one file's patch
	sharedLook   = 256 << 10      // of all patches of a row
	sharedFiles  = 1000           // of a row
	sharedText   = picker.MaxSaid // bytes of one text of the conversation
	sharedShort  = 1 << 10        // of a text, where the file is full
	sharedBlock  = 256 << 10      // bytes that are packed together
	sharedLooks  = 40 << 20       // packed bytes of all looks
	sharedTalk   = 24 << 20       // and of the conversation
	sharedAtOnce = 200            // rows whose owners are asked for together
	sharedBlames = 1000           // files with several authors for which the page has the author of each line
)

// ExportedPageView is what ui --export-html --json prints.
type ExportedPageView struct {
	app.PathView
	SessionID   string `json:"session_id"`
	Agent       string `json:"agent"`
	Checkpoints int    `json:"checkpoints"`
	Bytes       int64  `json:"bytes"`
	LeftOut     int    `json:"precious_left_out"` // files
	Redacted    int    `json:"redacted"`          // places in texts
	Cut         int    `json:"cut"`               // diffs and texts that were longer than their bound
	Unread      int    `json:"conversations_unread"`
}

// sharedIndex is what the page asks for first.
type sharedIndex struct {
	Project  string           `json:"project"`
	Exported sharedNote       `json:"exported"`
	Timeline timelineView     `json:"timeline"`
	Looks    []sharedAt       `json:"looks"`
	Messages []sharedAt       `json:"messages"`
	Branches [][]int          `json:"branches"`
	Talk     [][2]int         `json:"talk"` // of each row: its branch, -1 for none, and how much of it
	Files    map[string][]int `json:"files"`
}

type sharedNote struct {
	Project string   `json:"project"`
	Time    string   `json:"time"`
	Notes   []string `json:"notes"`
}

// sharedAt says which block has what, from a number on.
type sharedAt struct {
	First int `json:"first"`
	Block int `json:"block"`
}

// exportPage is ui --export-html.
func exportPage(ctx context.Context, c *app.Call, file string) error {
	switch {
	case file == "-" && c.JSON:
		return &app.UsageError{Msg: "--json needs an output file, since stdout would carry the page", Hint: "rewind ui --export-html FILE --json"}
	case file == "-" && c.Out.OutTerm:
		return &app.UsageError{Msg: "refusing to write a page to a terminal", Hint: "rewind ui --export-html FILE"}
	case file != "-":
		var err error
		if file, err = app.OutputFile(c.Env, file); err != nil {
			return err
		}
		if st, err := os.Stat(file); err == nil && !st.Mode().IsRegular() {
			return app.Usagef("%q is no regular file", file)
		}
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	session, err := sharedSession(ctx, c, p)
	if err != nil {
		return err
	}
	x, err := newSharing(c, p, session)
	if err != nil {
		return err
	}
	r := x.redact
	if file == "-" {
		if err := x.write(ctx, c.Out.Buf); err != nil {
			return err
		}
		c.Out.EndProgress()
		x.warnMissing()
		return nil
	}
	w := &app.AsideFile{File: file, Private: true}
	if err := x.write(ctx, w); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	c.Out.EndProgress()
	if c.JSON {
		return c.Out.Document(ExportedPageView{app.ViewPath(filepath.ToSlash(file)), session.ID, session.Agent, x.checkpoints, w.N, len(r.leftOut), r.count, x.cut, x.unread})
	}
	c.Out.Summary("Exported the session to %s: %s, %s.", app.Escape(file), app.Plural(x.checkpoints, "checkpoint", "checkpoints"), app.FormatSize(w.N))
	x.warnMissing()
	return nil
}

func newSharing(c *app.Call, p *project.Project, session session.Info) (*sharing, error) {
	r, err := newRedactor(p.Settings().Redact, p.Settings().Precious)
	if err != nil {
		return nil, err
	}
	r.places = newMachinePlaces(p.Root(), c.Env.Home)
	return &sharing{c: c, p: p, src: picker.NewSource(c, p), redact: r, session: session, works: map[*attribution.Work]*attribution.Work{}}, nil
}

// export is ui --export-html of a session, for who asks with the page.
func (s *space) export(ctx context.Context, args web.Args, out io.Writer) error {
	info, err := session.Named(ctx, s.P, args("session"))
	if err != nil {
		return err
	}
	x, err := newSharing(s.C, s.P, info)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	if err := x.write(ctx, w); err != nil {
		return err
	}
	return w.Flush()
}

// sharedSession is the one that is meant, as everywhere; where none is at work, the newest that has checkpoints.
func sharedSession(ctx context.Context, c *app.Call, p *project.Project) (session.Info, error) {
	var none *session.UnclearError
	s, err := c.ChooseSession(ctx, p)
	if err == nil {
		return s.Info, nil
	}
	if !errors.As(err, &none) || none.Named != "" || len(none.Choices) > 0 {
		return session.Info{}, err
	}
	all, lerr := conversation.Sessions(ctx, p)
	i := slices.IndexFunc(all, func(s session.Info) bool { return len(s.Checkpoints) > 0 })
	if lerr != nil || i < 0 {
		return session.Info{}, errors.Join(lerr, app.Coded(errors.New("no session of an agent has a checkpoint here yet"), app.ExitNotFound))
	}
	if !c.Quiet {
		c.Out.Message(screen.Dim, "session:", app.SessionText(all[i])+", the newest")
	}
	return all[i], nil
}

// sharing is one export of a session.
type sharing struct {
	c       *app.Call
	p       *project.Project
	src     *picker.Source
	redact  *redactor
	session session.Info

	rows        []*timeline.Row // newest first
	page        *web.Shared
	index       sharedIndex
	calls       map[string]string                       // rows by tool calls
	works       map[*attribution.Work]*attribution.Work // without secrets
	checkpoints int
	cut, unread int
	blamed      int  // files whose lines were asked for
	partial     bool // the conversation has later messages than the newest checkpoint, and they are left out
}

// warnMissing says on stderr what is not in the file.
func (x *sharing) warnMissing() {
	if x.c.Quiet || x.c.JSON {
		return
	}
	for _, text := range x.missing(false) {
		x.c.Out.Warn("%s", text)
	}
	x.c.Out.Hint("look at it before you share it: only what is known to be secret was left out")
}

// write makes the page.
func (x *sharing) write(ctx context.Context, w io.Writer) error {
	release, err := x.p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	x.rows, err = timeline.New(x.p, timeline.Options{Filter: timeline.Filter{Sessions: map[string]bool{x.session.ID: true}}}).Next(ctx, 0)
	if err != nil {
		return err
	}
	x.calls = map[string]string{}
	for _, r := range x.rows {
		if l := r.Checkpoint; l != nil {
			x.checkpoints++
			if l.ToolUseID != "" && l.Kind == manifest.PreTool {
				x.calls[l.ToolUseID] = l.ID.String()
			}
		}
	}
	if x.checkpoints == 0 {
		return app.NoAnswer("the session "+app.Quote(x.session.ID)+" has no checkpoints here", "rewind sessions shows those that have")
	}
	if err := x.learn(ctx); err != nil {
		return err
	}
	count := &countingWriter{w: w}
	if x.page, err = web.NewShared(count); err != nil {
		return err
	}
	now := x.c.Out.Now()
	name := x.redact.text(filepath.Base(x.p.Root()))
	x.index = sharedIndex{Project: name, Files: map[string][]int{}, Exported: sharedNote{Project: name, Time: app.ViewTime(now)},
		Timeline: timelineView{Rows: []rowView{}, Total: x.checkpoints, Sessions: []sessionView{{ID: x.session.ID, Agent: x.session.Agent, Label: x.redact.label(x.session)}}}}
	if err := x.looks(ctx, count); err != nil {
		return err
	}
	if err := x.talk(ctx, count); err != nil {
		return err
	}
	x.index.Timeline.Graph = picker.Graph(x.rows, []graph.Session{{ID: x.session.ID}}, nil)
	x.index.Exported.Notes = x.notes()
	return x.page.End(x.index)
}

// notes say to who opens the file what it is, and what is not in it.
func (x *sharing) notes() []string {
	out := []string{fmt.Sprintf("One session of %s: %s.", cmp.Or(x.session.Agent, "an agent"), app.Plural(x.checkpoints, "checkpoint", "checkpoints"))}
	for _, text := range x.missing(true) {
		out = append(out, text+".")
	}
	return out
}

// missing says what is not in the file, on stderr and inside the file.
func (x *sharing) missing(inside bool) (out []string) {
	add := func(n int, one, many, what string) {
		if n > 0 {
			out = append(out, app.Plural(n, one, many)+" "+what)
		}
	}
	add(len(x.redact.leftOut), "precious file was", "precious files were", "left out")
	if x.redact.full && !inside {
		out = append(out, "precious files contain too much to search for: all texts and diffs were left out")
	}
	add(x.redact.count, "place in texts was", "places in texts were", "redacted")
	add(len(x.redact.short), "value is", "values are", fmt.Sprintf("shorter than %d bytes in precious files: not looked for where they stand alone", leastValue))
	if inside {
		add(x.cut, "long diff or text was", "long diffs or texts were", "cut")
	}
	if x.partial && inside {
		out = append(out, "The conversation went on after the last checkpoint: that is not here")
	}
	add(x.unread, "conversation", "conversations", "could not be read")
	return out
}

type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

// learn looks for precious files in the states of the rows, and for the values in them.
func (x *sharing) learn(ctx context.Context) error {
	seen := map[string]bool{} // paths and contents
	take := func(path string, e *manifest.Entry) error {
		if e == nil || e.Kind == manifest.Subdir || !e.Precious && !x.redact.named.Has(path) {
			return nil
		}
		x.redact.marked[path] = true
		id := string(e.ID[:])
		if seen[id] || e.Kind == manifest.Symlink || e.Size > maxContent {
			return nil
		}
		seen[id] = true
		in, err := inspect.Content(ctx, x.p, *e)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err == nil {
			x.redact.learn(string(data))
		}
		return err
	}
	report := x.progress(ctx, "look through")
	for i, r := range slices.Backward(x.rows) {
		if err := report(len(x.rows) - 1 - i); err != nil {
			return err
		}
		if l := r.Checkpoint; l != nil && (i == len(x.rows)-1 || i == 0) {
			err := manifest.Walk(x.p.LoadDir, l.Root, func(path string, e manifest.Entry) error { return take(path, &e) })
			if err != nil {
				return x.p.Classify(err)
			}
		}
		err := r.Changes(ctx, x.p, nil, func(c manifest.Change) error {
			return errors.Join(take(c.Path, c.Old), take(c.Path, c.New))
		})
		if err != nil {
			return err
		}
	}
	x.redact.learned()
	return report(len(x.rows))
}

// progress tells how many rows are done; it ends an interrupted call.
func (x *sharing) progress(ctx context.Context, phase string) func(done int) error {
	return func(done int) error {
		if x.p.Progress != nil {
			x.p.Progress(project.ProgressInfo{Phase: phase, Unit: "checkpoint", Files: int64(done), TotalFiles: int64(len(x.rows))})
		}
		return ctx.Err()
	}
}
