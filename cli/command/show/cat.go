package show

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

func NewCat() *app.Command {
	var transcript bool
	return &app.Command{
		Name:  "cat",
		Usage: "<ckpt> <path> | <ckpt> --transcript",
		Short: "print one file of a checkpoint, or its conversation",
		Long: "Prints the contents of one file in the checkpoint, or the target of a symlink. With\n" +
			"--transcript, prints the agent's transcript up to that point.",
		Examples: []app.Example{
			{Line: "rewind cat last src/main.go", Does: "one file"},
			{Line: "rewind cat 3 notes.md > old-notes.md", Does: "keep it beside the current one"},
			{Line: "rewind cat 3 --transcript > conversation.jsonl", Does: "the conversation so far"},
		},
		Answers: app.Answers{"cat": fileView{}, "cat-transcript": conversationView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 1, MaxArgs: 2, Paths: true, OnePath: true, Pulled: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&transcript, "transcript", false, "the conversation instead of a file")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			arg, err := onePath(c, 1, !transcript)
			if err != nil {
				return err
			}
			if transcript && arg != "" {
				return app.Usagef("--transcript takes no path")
			}
			p, l, err := c.CheckpointToRead(ctx, 0)
			if err != nil {
				return err
			}
			if transcript {
				return printTranscript(ctx, c, p, l)
			}
			return catFile(ctx, c, p, l, arg)
		},
	}
}

// catFile prints one file of a checkpoint; arg is the path as it was typed.
func catFile(ctx context.Context, c *app.Call, p *project.Project, l project.Listed, arg string) error {
	path, err := app.RootPath(p.Root(), c.Env.Dir, arg)
	if err != nil {
		return err
	}
	release, err := p.Use(ctx) // the entry, then its content
	if err != nil {
		return err
	}
	defer release()
	e, err := findFile(ctx, p, l, path, arg)
	if err != nil {
		return err
	}
	torn, err := rows.TornFiles(ctx, c, p, l.Checkpoint)
	if err != nil {
		return err
	}
	if torn[path] {
		c.Out.Warn("%s: %s", app.Escape(path), restore.ReasonTorn)
	}
	return printFile(ctx, c, p, e)
}

// printTranscript prints the agent's transcript as it was captured.
func printTranscript(ctx context.Context, c *app.Call, p *project.Project, l project.Listed) error {
	r, err := conversation.Open(ctx, p, l.Checkpoint)
	if err != nil {
		return err
	}
	defer r.Close()
	return printContent(c, r, func(content string) any { return conversationView{rows.ViewTranscript(l.Transcript), content} })
}

// printContent prints bytes from the store: as they are, but at a terminal, where they could be
// commands to it, escaped line by line. view is the document that has them in base64.
func printContent(c *app.Call, r io.Reader, view func(content string) any) error {
	switch {
	case c.JSON:
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return c.Out.Document(view(base64.StdEncoding.EncodeToString(data)))
	case !c.Out.OutTerm:
		return c.Out.CopyOut(r)
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			c.Out.Line("%s", app.EscapeLine(strings.TrimSuffix(line, "\n")))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// conversationView is what cat --transcript --json prints.
type conversationView struct {
	Transcript *rows.TranscriptView `json:"transcript"`
	Content    string               `json:"content_b64"`
}

// findFile looks one path up; it must not be a directory.
func findFile(ctx context.Context, p *project.Project, l project.Listed, path, given string) (inspect.TreeEntry, error) {
	if path != "" {
		e, err := inspect.Entry(ctx, p, l.Checkpoint, path)
		if err != nil || e.Kind != manifest.Subdir {
			return inspect.TreeEntry{Path: path, Entry: e}, err
		}
	}
	return inspect.TreeEntry{}, app.Hinted(fmt.Errorf("%q is a directory", given), "rewind show "+app.ShellQuote(l.ID.String()[:app.ShortID])+" --files lists what is in it")
}

func printFile(ctx context.Context, c *app.Call, p *project.Project, e inspect.TreeEntry) error {
	view := func(content string) any { return fileView{rows.ViewEntry(e), content} }
	if e.Kind == manifest.Symlink {
		switch {
		case c.JSON:
			return c.Out.Document(view(base64.StdEncoding.EncodeToString([]byte(e.Target))))
		case c.Out.OutTerm:
			c.Out.Line("%s", app.Escape(e.Target))
		default:
			c.Out.Line("%s", e.Target)
		}
		return nil
	}
	r, err := inspect.Content(ctx, p, e.Entry)
	if err != nil {
		return err
	}
	defer r.Close()
	return printContent(c, r, view)
}

// fileView is what cat --json prints: the entry with its bytes.
type fileView struct {
	rows.EntryView
	Content string `json:"content_b64"`
}
