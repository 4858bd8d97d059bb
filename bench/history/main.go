// Command history puts many checkpoints into a project, one after the other,
// through the engine in one process: far faster than one process each.
//
//	history [-seed N] [-glob G] [-each K] [-again] ROOT FROM TO
//
// Checkpoint FROM+1 to TO are made; each follows a one-line edit of one of
// twenty files, or of K of those that match G. With -again the tree is not looked
// at: they are prompts and calls of two sessions, of trees that the newest
// checkpoints have.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/bench/workload"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the edits")
	glob := flag.String("glob", "src/m000/p0[0-4]/file*[05].go", "the files to edit, below ROOT")
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
	if err := history(edits{seed: *seed, each: *each}, *glob, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// maintained is after how many checkpoints the database is brought up to date,
// as the hooks have it done by a detached process.
const maintained = 500

// edits says which files change before each checkpoint.
type edits struct {
	seed  uint64
	files []string
	each  int
}

// before makes the edits of checkpoint i: the files take turns.
func (e edits) before(i int) error {
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

func history(e edits, glob string, args []string) error {
	from, to, err := interval(args)
	if err != nil {
		return err
	}
	e.files, err = filepath.Glob(filepath.Join(args[0], glob))
	if err != nil || len(e.files) < 20 {
		return fmt.Errorf("%s: not a tree of 20 files to edit: %v", args[0], err)
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
func some(root string, e edits, from, to int) error {
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
