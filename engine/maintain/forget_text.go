package maintain

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// MinForgetText is the shortest literal text, in bytes, that is forgotten: a shorter one is everywhere.
const MinForgetText = 4

// ForgetText marks texts out of all that the store holds of conversations: transcripts and the
// files beside them, prompts, descriptions, and plain copies of transcripts. The name of a checkpoint, or of a
// branch, that has one is taken away; what had a name is pinned instead. What checkpoints
// say of ignore rules, tools and paths that they do not have loses it, too. Ids of sessions, prompts and calls stay: clients make them. The patterns are
// literal texts, or regular expressions (RE2). A mark has the length of what it replaces,
// so that forks still load. The agents' own files stay; those that hold one are in
// Still. Errors: *RefusedError for a text that is too short, and those of Forget.
func ForgetText(ctx context.Context, p *project.Project, patterns []string, isRegexp, dryRun bool) (*Forgotten, error) {
	var mark textMark
	for _, pattern := range patterns {
		if !isRegexp {
			if len(pattern) < MinForgetText {
				return nil, &project.RefusedError{What: "the text is too short: it needs at least 4 bytes", Next: "use a longer one"}
			}
			pattern = regexp.QuoteMeta(pattern)
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		if re.MatchString("") {
			return nil, &project.RefusedError{What: "the pattern matches the empty string", Next: "use a longer one"}
		}
		mark = append(mark, re)
	}
	return forget(ctx, p, dryRun, func(tx *commit.Tx, log *LogState) (amender, error) {
		return &textForgetter{conversations: newConversations(ctx, p, tx, log, mark, dryRun), mark: mark, rules: map[oid.ID]oid.ID{}, sights: map[[2]oid.ID]oid.ID{}}, nil
	})
}

type textForgetter struct {
	*conversations
	mark    textMark
	unnamed []manifest.Checkpoint // whose name had it
	beside  map[string]bool       // ids of the stores of other work trees
	around  map[string]bool       // ids of the stores of projects that this one lies in
	looked  map[oid.ID]bool       // states of git, files in them, and ignore rules, that another store has without it
	rules   map[oid.ID]oid.ID     // ignore rules that were searched, and those without it
	sights  map[[2]oid.ID]oid.ID  // coverages of trees that were searched, and those without it
	clean   bool                  // no repository has it
}

func (f *textForgetter) checkpoint(ctx context.Context, c *manifest.Checkpoint) (bool, error) {
	changed := f.redactText(&c.ToolSummary)
	changed = f.redactText(&c.Tool) || changed
	if f.has(c.GitBranch) {
		c.GitBranch, changed = "", true
		f.places++
	}
	if f.has(c.Name) {
		f.unnamed = append(f.unnamed, *c)
		c.Name, changed = "", true
		f.places++
	}
	if windows := rewriteWindows(c.Windows, f.window); windows != c.Windows {
		c.Windows, changed = windows, true
	}
	if left := f.written(c.Changed); left != c.Changed {
		c.Changed, changed = left, true
	}
	rules, err := f.ignoring(c)
	if err != nil {
		return false, err
	}
	left, err := f.leftOut(c)
	if err != nil {
		return false, err
	}
	git := c.Git
	talk, err := f.conversations.checkpoint(ctx, c)
	if git != c.Git {
		f.places++
	}
	return changed || rules || left || talk, err
}

// marks takes the names away that had the text. Retention kept what had a name: a pin does so now.
func (f *textForgetter) marks() (records []manifest.Record) {
	none, pinned := "", true
	for _, c := range f.unnamed {
		records = append(records, manifest.Record{Mark: &manifest.Mark{Checkpoint: c.ID, Time: f.p.Env.Time().UTC(), Name: &none, Pinned: &pinned}})
	}
	return records
}

func (f *textForgetter) has(s string) bool { return f.mark.text([]byte(s), 0) > 0 }

// operation: what was typed is marked, too.
func (f *textForgetter) operation(_ context.Context, o *manifest.Operation) (bool, error) {
	typed := f.redactText(&o.Args)
	changed, err := f.conversations.operation(o)
	return changed || typed, err
}

// touch: that its path has the text, names says.
func (f *textForgetter) touch(t *manifest.Touch) bool { return f.has(t.Tool) }

// wanted is the conversations as they were, and the text itself in what checkpoints say.
func (f *textForgetter) wanted(ctx context.Context) (ids []oid.ID, says func(*cas.Store, manifest.Record) bool) {
	talks := func(*cas.Store, manifest.Record) bool { return false }
	if len(f.held) == 0 { // as in a second forget, which does not know any more what had it
		talks = f.conversesAs(ctx, func(*manifest.Checkpoint) bool { return true })
	}
	return f.were, func(s *cas.Store, r manifest.Record) bool {
		switch {
		case r.Checkpoint != nil:
			c := r.Checkpoint
			return talks(s, r) || slices.ContainsFunc([]string{c.Prompt, c.Description, c.Tool, c.ToolSummary, c.Name, c.GitBranch}, f.has) || f.windowsSay(c.Windows) || f.rulesSay(s, c.Rules)
		case r.Operation != nil:
			return f.has(r.Operation.Args)
		case r.Mark != nil && r.Mark.Name != nil:
			return f.has(*r.Mark.Name)
		}
		return false
	}
}

func (f *textForgetter) finish(ctx context.Context, log *LogState, result *Forgotten) (err error) {
	result.HeldAll = len(gitstate.HeldDirs(f.p)) > 0 // also a message of a commit can have it
	if f.repos, err = repositories(f.p, f.tx, log, false); err != nil {
		return err
	}
	f.looked = map[oid.ID]bool{}
	f.beside, f.around = gitstate.StoresOf(f.p, commonsOf(f.repos)), gitstate.StoresAround(f.p)
	err = f.inGit(ctx, result)
	f.clean = err == nil && len(result.Git) == 0
	result.Settings = f.inSettings()
	if err == nil {
		result.Named, err = f.names(ctx, log)
	}
	return errors.Join(f.conversations.finish(result), err)
}

// leftovers marks what hooks left.
func (f *textForgetter) leftovers(ctx context.Context, _ *Forgotten) error {
	return errors.Join(gitstate.LetGoAll(f.p, commonsOf(f.repos)), gitstate.NoteAll(f.p, fmt.Sprint(f.mark), f.clean), rewritePending(ctx, f.p, f.window), notice.Forget(ctx, f.p, 0, func(_ uint64, path string) bool { return f.has(path) }), f.conversations.leftovers(ctx))
}
