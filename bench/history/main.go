// Command history puts many checkpoints into a project, one after the other,
// through the engine in one process: far faster than one process each.
//
//	history [-seed N] [-glob G] [-each K] [-again] ROOT FROM TO
//
// Checkpoint FROM+1 to TO are made; each follows a one-line edit of one of the
// files that match G, or of K of them. With K = 1, the edits of many checkpoints are made
// at once, beside the tree, and before each checkpoint a directory is exchanged: a save waits
// until a file's last write is 10 ms ago, which would be most of the time. With -again the tree is not looked
// at: they are prompts and calls of two sessions, of trees that the newest
// checkpoints have.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/bench/workload"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the edits")
	glob := flag.String("glob", "src/m000/p[01]?/file*[05].go", "the files to edit, below ROOT")
	each := flag.Int("each", 1, "files edited before a checkpoint")
	again := flag.Bool("again", false, "of trees that are held already: log records alone")
	flag.Parse()
	if *again {
		if err := repeat(flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "history:", err)
			os.Exit(1)
		}
		return
	}
	if err := history(&edits{seed: *seed, each: *each}, *glob, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// maintained is after how many checkpoints the database is brought up to date,
// as the hooks have it done by a detached process.
const maintained = 500

// settled is longer than the time for which a save takes a writer to be at a file still.
const settled = 20 * time.Millisecond

// edits says which files change before each checkpoint.
type edits struct {
	seed  uint64
	files []string
	each  int
	// With each == 1: the directories of the files, a file of each, and then the next of each.
	dirs  []string
	spare string // where the second copies of the directories are
	ready int    // for how many checkpoints they have the edits
}

// spareDirs copies the directories of the files, and sorts the files.
func (e *edits) spareDirs(root string) error {
	e.spare = root + ".spare"
	in := map[string][]string{}
	for _, f := range e.files {
		dir := filepath.Dir(f)
		if in[dir] == nil {
			if err := os.CopyFS(e.copyOf(dir), os.DirFS(dir)); err != nil {
				return err
			}
			e.dirs = append(e.dirs, dir)
		}
		in[dir] = append(in[dir], f)
	}
	e.files = nil
	for n := 0; n < len(in[e.dirs[0]]); n++ {
		for _, dir := range e.dirs {
			e.files = append(e.files, in[dir][n%len(in[dir])])
		}
	}
	return nil
}

func (e *edits) copyOf(dir string) string {
	return filepath.Join(e.spare, strings.ReplaceAll(dir, string(filepath.Separator), "-"))
}

// prepare makes the edits of the checkpoints from i on, one in each directory, in the second copies.
func (e *edits) prepare(i int) error {
	for n := i; n < i+len(e.dirs); n++ {
		file := e.files[n%len(e.files)]
		dir := filepath.Dir(file)
		for _, f := range e.files {
			if filepath.Dir(f) != dir {
				continue
			}
			second := filepath.Join(e.copyOf(dir), filepath.Base(f))
			now, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			if then, err := os.ReadFile(second); err != nil || !bytes.Equal(now, then) {
				if err := os.WriteFile(second, now, 0o644); err != nil {
					return err
				}
			}
			if f == file {
				if err := workload.Edit(second, e.seed+uint64(n)); err != nil {
					return err
				}
			}
		}
	}
	e.ready = i + len(e.dirs)
	time.Sleep(settled)
	return nil
}

// before makes the edits of checkpoint i: the files take turns.
func (e *edits) before(i int) error {
	if e.dirs != nil {
		if i >= e.ready {
			if err := e.prepare(i); err != nil {
				return err
			}
		}
		dir := filepath.Dir(e.files[i%len(e.files)])
		second, old := e.copyOf(dir), e.copyOf(dir)+".old"
		return errors.Join(os.Rename(dir, old), os.Rename(second, dir), os.Rename(old, second))
	}
	for k := range e.each {
		n := i*e.each + k
		if err := workload.Edit(e.files[n%len(e.files)], e.seed+uint64(n)); err != nil {
			return err
		}
	}
	return nil
}

func interval(args []string) (from, to int, err error) {
	if len(args) != 3 {
		return 0, 0, fmt.Errorf("ROOT FROM TO")
	}
	if from, err = strconv.Atoi(args[1]); err == nil {
		to, err = strconv.Atoi(args[2])
	}
	return from, to, err
}

func history(e *edits, glob string, args []string) error {
	from, to, err := interval(args)
	if err != nil {
		return err
	}
	e.files, err = filepath.Glob(filepath.Join(args[0], glob))
	if err != nil || len(e.files) < 20 {
		return fmt.Errorf("%s: not a tree of 20 files to edit: %v", args[0], err)
	}
	if e.each == 1 {
		if err := e.spareDirs(filepath.Clean(args[0])); err != nil {
			return err
		}
		defer os.RemoveAll(e.spare)
	}
	for ; from < to; from += maintained {
		if err := some(args[0], e, from, min(to, from+maintained)); err != nil {
			return err
		}
	}
	return nil
}

// some makes a part of the checkpoints in a project opened for them: a process
// that saves does not live for thousands of checkpoints.
func some(root string, e *edits, from, to int) error {
	ctx := context.Background()
	p, err := project.Open(ctx, project.OpenOptions{Env: account.Environment(), Root: root})
	if err != nil {
		return err
	}
	defer p.Close()
	for i := from; i < to; i++ {
		if err := e.before(i); err != nil {
			return err
		}
		if _, err := save.Save(ctx, p, checkpoint.Options{Description: fmt.Sprintf("turn %d", i+1)}); err != nil {
			return err
		}
	}
	return hook.Work(ctx, p, hook.WorkOptions{Fold: true})
}
