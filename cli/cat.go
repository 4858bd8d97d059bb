package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

func newCat() *command {
	var transcript bool
	return &command{
		name:  "cat",
		usage: "<ckpt> <path> | <ckpt> --transcript",
		short: "print one file of a checkpoint, or its conversation",
		long: "Prints the contents of one file in the checkpoint, or the target of a symlink. With\n" +
			"--transcript, prints the agent's transcript up to that point.",
		examples: []example{
			{"rewind cat last src/main.go", "one file"},
			{"rewind cat 3 notes.md > old-notes.md", "keep it beside the current one"},
			{"rewind cat 3 --transcript > conversation.jsonl", "the conversation so far"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 1, maxArgs: 2, paths: true, onePath: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&transcript, "transcript", false, "the conversation instead of a file")
		},
		run: func(ctx context.Context, c *call) error {
			arg, err := c.onePath(1, !transcript)
			if err != nil {
				return err
			}
			if transcript && arg != "" {
				return usagef("--transcript takes no path")
			}
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			if transcript {
				return printTranscript(ctx, c, p, l)
			}
			return c.catFile(ctx, p, l, arg)
		},
	}
}

// catFile prints one file of a checkpoint; arg is the path as it was typed.
func (c *call) catFile(ctx context.Context, p *project.Project, l project.Listed, arg string) error {
	path, err := rootPath(p.Root(), c.env.Dir, arg)
	if err != nil {
		return err
	}
	release, err := p.Hold(ctx) // the entry, then its content
	if err != nil {
		return err
	}
	defer release()
	e, err := findFile(ctx, p, l, path, arg)
	if err != nil {
		return err
	}
	torn, err := c.tornFiles(ctx, p, l.Checkpoint)
	if err != nil {
		return err
	}
	if torn[path] {
		c.out.warn("%s: %s", escape(path), restore.ReasonTorn)
	}
	return printFile(ctx, c, p, e)
}

// printTranscript prints the agent's transcript as it was captured.
func printTranscript(ctx context.Context, c *call, p *project.Project, l project.Listed) error {
	r, err := conversation.Open(ctx, p, l.Checkpoint)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.json {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return c.out.document(conversationView{viewTranscript(l.Transcript), base64.StdEncoding.EncodeToString(data)})
	}
	return printContent(c, r)
}

// printContent prints bytes from the store: as they are, but at a terminal, where they could be
// commands to it, escaped line by line.
func printContent(c *call, r io.Reader) error {
	if !c.out.outTerm {
		return c.out.copyOut(r)
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			c.out.line("%s", escapeLine(strings.TrimSuffix(line, "\n")))
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
	Transcript *transcriptView `json:"transcript"`
	Content    string          `json:"content_b64"`
}

// tornFiles are the files that a checkpoint holds no state of. That this cannot be told is a warning.
func (c *call) tornFiles(ctx context.Context, p *project.Project, of manifest.Checkpoint) (map[string]bool, error) {
	torn, err := inspect.TornFiles(ctx, p, of)
	if err != nil && ctx.Err() == nil {
		c.out.warn("cannot tell which files were being written when the checkpoint was taken: %v", err)
		err = nil
	}
	return torn, err
}

// findFile looks one path up; it must not be a directory.
func findFile(ctx context.Context, p *project.Project, l project.Listed, path, given string) (inspect.TreeEntry, error) {
	if path != "" {
		e, err := inspect.Entry(ctx, p, l.Checkpoint, path)
		if err != nil || e.Kind != manifest.Subdir {
			return inspect.TreeEntry{Path: path, Entry: e}, err
		}
	}
	return inspect.TreeEntry{}, &hintedError{fmt.Errorf("%q is a directory", given), "rewind show " + shellQuote(l.ID.String()[:shortID]) + " --files lists what is in it"}
}

func printFile(ctx context.Context, c *call, p *project.Project, e inspect.TreeEntry) error {
	if e.Kind == manifest.Symlink {
		if c.json {
			return c.out.document(fileView{viewEntry(e), base64.StdEncoding.EncodeToString([]byte(e.Target))})
		}
		if c.out.outTerm {
			c.out.line("%s", escape(e.Target))
		} else {
			c.out.line("%s", e.Target)
		}
		return nil
	}
	r, err := inspect.Content(ctx, p, e.Entry)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.json {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return c.out.document(fileView{viewEntry(e), base64.StdEncoding.EncodeToString(data)})
	}
	return printContent(c, r)
}

// fileView is what cat --json prints: the entry with its bytes.
type fileView struct {
	entryView
	Content string `json:"content_b64"`
}
