package restore

import (
	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
)

// gitFlags say whether git's own state goes along.
type gitFlags struct {
	git     string // "", "lost" or "exact"
	gitOnly bool
}

// gitUsage are the flags of gitFlags in a usage line.
const gitUsage = "[--git[=exact]|--git-only] "

func (g *gitFlags) define(f *pflag.FlagSet) {
	f.StringVar(&g.git, "git", "", "restore git's own state too: what is lost, or all as it was (`exact`: --git=exact)")
	f.Lookup("git").NoOptDefVal = "lost"
	f.BoolVar(&g.gitOnly, "git-only", false, "restore git's own state, and nothing else")
}

// apply reads the flags into the options of a restore. paths are those that were named.
func (g *gitFlags) apply(o *restore.Options, half conversation.Half, paths []string) error {
	switch g.git {
	case "":
		if !g.gitOnly {
			return nil
		}
		o.Git = restore.GitLost
	case "lost":
		o.Git = restore.GitLost
	case "exact":
		o.Git = restore.GitExact
	default:
		return app.Usagef("--git takes lost or exact, not %q", g.git)
	}
	switch {
	case len(paths) > 0:
		return app.Usagef("--git concerns the whole repository, not single paths")
	case half == conversation.ConversationOnly:
		return app.Usagef("--git cannot be combined with --context-only")
	}
	o.GitOnly = g.gitOnly
	return nil
}

// words are the flags as they were typed.
func (g *gitFlags) words() (words []string) {
	switch {
	case g.git == "lost":
		words = append(words, "--git")
	case g.git != "":
		words = append(words, "--git="+g.git)
	}
	if g.gitOnly {
		words = append(words, "--git-only")
	}
	return words
}
