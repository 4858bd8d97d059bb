// Command history puts many checkpoints into a project, one after the other,
// through the engine in one process: far faster than one process each.
//
//	history [-seed N] ROOT FROM TO
//
// Checkpoint FROM+1 to TO are made; each follows a one-line edit of one of
// twenty files.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/bench/workload"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the edits")
	flag.Parse()
	if err := history(*seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

// maintained is after how many checkpoints the database is brought up to date,
// as the hooks have it done by a detached process.
const maintained = 500

func history(seed uint64, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("ROOT FROM TO")
	}
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	to, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(args[0], "src/m000/p0[0-4]/file*[05].go"))
	if err != nil || len(files) < 20 {
		return fmt.Errorf("%s: not a tree of 20 files to edit: %v", args[0], err)
	}
	for ; from < to; from += maintained {
		if err := some(args[0], files, seed, from, min(to, from+maintained)); err != nil {
			return err
		}
	}
	return nil
}

// some makes a part of the checkpoints in a project opened for them: a process
// that saves does not live for thousands of checkpoints.
func some(root string, files []string, seed uint64, from, to int) error {
	ctx := context.Background()
	p, err := project.Open(ctx, project.OpenOptions{Env: account.Environment(), Root: root})
	if err != nil {
		return err
	}
	defer p.Close()
	for i := from; i < to; i++ {
		if err := workload.Edit(files[i%20], seed+uint64(i)); err != nil {
			return err
		}
		if _, err := engine.Save(ctx, p, checkpoint.Options{Description: fmt.Sprintf("turn %d", i+1)}); err != nil {
			return err
		}
	}
	return hook.Work(ctx, p, hook.WorkOptions{Fold: true})
}
