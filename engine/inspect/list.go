package inspect

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// Changes of a checkpoint against the one before, in path order.
func Changes(ctx context.Context, p *project.Project, c manifest.Checkpoint) ([]manifest.Change, error) {
	var out []manifest.Change
	var left problem.Unread
	gone := func(c manifest.Change) bool { return c.New == nil }
	err := p.Query(ctx, func(db *manifest.DB) error {
		err := manifest.Each(db.Changes(c.Seq), func(change manifest.Change) error {
			out = append(out, change)
			return nil
		})
		if err == nil && slices.ContainsFunc(out, gone) {
			var at manifest.Checkpoint
			if at, err = project.Living(db, c.ID); err == nil {
				left, err = unreadAt(p, db, &at)
			}
		}
		return err
	})
	// What is there and was not captured is in no tree, and no deletion.
	return slices.DeleteFunc(out, func(c manifest.Change) bool {
		return p.Uncaptured(left, c)
	}), err
}

// Coverage is what the checkpoint did not capture, and why.
func Coverage(ctx context.Context, p *project.Project, c manifest.Checkpoint) ([]problem.Problem, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if c, err = p.Current(ctx, c); err != nil {
		return nil, err
	}
	return p.Coverage(c.Coverage)
}

// Outside counts the paths that a coverage lists; a directory that is left out as a whole is one. It is 0 where
// these are git's own directory and the store only, which no checkpoint has.
func Outside(problems []problem.Problem) (n int) {
	others := false
	for _, p := range problems {
		n++
		switch p.Path {
		case ".git", path.Dir(account.StoreName), account.StoreName:
			continue
		case "":
			var more int
			if _, err := fmt.Sscanf(p.Reason, problem.Ignored.Word()+"%d", &more); err == nil {
				n += more - 1
			}
		}
		others = true
	}
	if !others {
		return 0
	}
	return n
}

// TornFiles are the files that were being written when the checkpoint was taken: what
// it holds of them is no state of theirs.
func TornFiles(ctx context.Context, p *project.Project, c manifest.Checkpoint) (map[string]bool, error) {
	problems, err := Coverage(ctx, p, c)
	torn := map[string]bool{}
	for _, p := range problems {
		if p.Code == problem.Torn {
			torn[p.Path] = true
		}
	}
	return torn, err
}

// ForgottenBefore says of which paths nothing is known any more in the newest checkpoint up to a sequence number, since they were
// taken out of it; nil for none.
func ForgottenBefore(ctx context.Context, p *project.Project, seq uint64) (is func(path string) bool, err error) {
	var found *project.Listed
	err = p.Query(ctx, func(db *manifest.DB) (err error) {
		found, err = project.NewestUpTo(db, seq)
		return err
	})
	if err != nil || found == nil {
		return nil, err
	}
	data, err := p.ReadObject(found.Coverage)
	if project.IsDamage(p.Classify(err)) {
		return nil, nil // verify tells of that
	} else if err != nil {
		return nil, err
	}
	return rules.Forgotten(p, data), nil
}

// ImportedKind is the kind of checkpoints that other programs have taken.
const ImportedKind = manifest.Imported
