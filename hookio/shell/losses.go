package shell

import (
	"slices"
	"strings"
)

// loss is a row of a table of commands with which something can be lost: subcommands of one program, and what their
// arguments have to be.
//
// with and without are lists with spaces. "-d" is a short option, also among several in one word; "--delete" a long one,
// also with a value. A word is an argument as it is. "+" is an operand that begins with "+" or ":", which forces or deletes
// a reference. "2" is a second operand.
type loss struct {
	subs    string // subcommands
	with    string // one of these has to be there; "" for no condition
	without string // none of these may be there, a word only at the beginning; git's rule for what only shows
}

// gitLosses are git's subcommands that can take away what a repository or its working tree has. What is in no row
// leaves each reference at its commit or a later one, each stash, each path of the index with its content, and each file.
// A subcommand of a later git that no row has counts as harmless.
var gitLosses = []loss{
	// Files, and what is staged of them; most of these move the branch as well.
	{subs: "reset checkout switch restore merge rebase pull revert cherry-pick am apply subtree quiltimport svn p4 citool gui history replay for-each-repo"},
	{subs: "rm mv clean", without: "-n --dry-run"},
	{subs: "stash", without: "list show create store"},
	{subs: "bisect", without: "log view visualize terms help"},
	{subs: "sparse-checkout", without: "list check-rules"},
	{subs: "submodule", with: "deinit update foreach sync absorbgitdirs set-url set-branch -f --force"},
	{subs: "read-tree update-index checkout-index merge-file merge-index merge-one-file merge-recursive merge-resolve merge-ours merge-octopus merge-subtree mergetool mailinfo"},
	{subs: "interpret-trailers", with: "--in-place"},
	{subs: "archive", with: "-o --output"},
	{subs: "bundle", with: "create"},
	{subs: "format-patch", without: "--stdout"},
	{subs: "diff diff-tree diff-index diff-files log show whatchanged shortlog rev-list range-diff stash", with: "--output"},
	// Linked worktrees with their files.
	{subs: "worktree", with: "remove move prune -f -B --force"},
	// References: branches, tags, remote-tracking branches, notes, HEAD.
	{subs: "branch", with: "-d -D -m -M -C -f --delete --move --force"},
	{subs: "tag", with: "-d -f --delete --force"},
	{subs: "remote", with: "remove rm rename prune set-head -p --prune"},
	{subs: "fetch", with: "-f -p -P -u --force --prune --prune-tags --update-head-ok --depth --shallow-since --shallow-exclude +"},
	{subs: "symbolic-ref", with: "-d --delete 2"},
	{subs: "notes", with: "remove prune merge edit -f --force"},
	{subs: "replace", without: "-l --list"},
	{subs: "update-ref fast-import filter-branch filter-repo"},
	{subs: "refs", with: "migrate delete"},
	// The commit that a branch has, for another one.
	{subs: "commit", with: "--amend"},
	// References of another repository.
	{subs: "push send-pack", with: "-f -d --force --force-with-lease --delete --mirror --prune +"},
	// What only reflogs know, and objects that nothing names.
	{subs: "reflog", with: "expire delete drop"},
	{subs: "gc", without: "--auto"},
	{subs: "gc", with: "--prune"},
	{subs: "maintenance", with: "run", without: "--auto"},
	{subs: "prune", without: "-n --dry-run"},
	{subs: "repack", with: "-d"},
	{subs: "rerere", with: "clear forget gc"},
	// The git directory's place, settings of the repository.
	{subs: "init", with: "--separate-git-dir"},
	{subs: "config", with: "--unset --unset-all --remove-section --rename-section --replace-all --edit -e unset remove-section rename-section edit"},
}

// gitHarmless are the other subcommands that are git's own: none of them is an alias.
const gitHarmless = " add annotate backfill blame bugreport cat-file check-attr check-ignore check-mailmap check-ref-format cherry clone column commit-graph commit-tree " +
	"count-objects credential daemon describe diagnose difftool fast-export fetch-pack fmt-merge-msg for-each-ref fsck grep hash-object help hook index-pack " +
	"instaweb last-modified ls-files ls-remote ls-tree mailsplit merge-base merge-tree mktag mktree multi-pack-index name-rev pack-objects pack-redundant pack-refs patch-id " +
	"prune-packed receive-pack repo request-pull rev-parse send-email show-branch show-index show-ref stage status stripspace unpack-file unpack-objects upload-archive upload-pack " +
	"update-server-info var verify-commit verify-pack verify-tag version write-tree "

// ownToGit reports whether a subcommand is git's own.
func ownToGit(sub string) bool {
	return contains(gitHarmless, sub) || slices.ContainsFunc(gitLosses, func(l loss) bool { return contains(l.subs, sub) })
}

// jjLosses are those of jj: what abandons, or puts an earlier state in the place of the present one.
var jjLosses = []loss{
	{subs: "abandon restore undo redo revert backout update"},
	{subs: "op operation", with: "abandon restore revert undo"},
	{subs: "bookmark branch b", with: "delete d forget f -B --allow-backwards"},
	{subs: "workspace", with: "forget"},
	{subs: "git", with: "--deleted"},
	{subs: "util", with: "gc"},
}

// loses reports whether a table has a row for a subcommand with these arguments.
func loses(table []loss, sub string, args []Word) bool {
	return slices.ContainsFunc(table, func(l loss) bool {
		return contains(l.subs, sub) && (l.with == "" || l.asked(args)) && !l.spared(args)
	})
}

// contains reports whether a list with spaces has a word.
func contains(list, word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(" "+list+" ", " "+word+" ")
}

// asked looks for what makes a command lose something. It takes too much for an option rather than too little: an option's
// value that looks like one, and the beginning of a long option, as git does.
func (l loss) asked(args []Word) bool {
	operands := 0
	for i, a := range args {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case a.Text == "--":
			operands += len(args) - i - 1
			return contains(l.with, "2") && operands > 1
		case strings.HasPrefix(name, "--"):
			if strings.Contains(" "+l.with+" ", " "+name) {
				return true
			}
		case strings.HasPrefix(name, "-"):
			if slices.ContainsFunc([]byte(name[1:]), func(c byte) bool { return contains(l.with, "-"+string(c)) }) {
				return true
			}
		default:
			operands++
			if contains(l.with, a.Text) && a.Text != "2" && a.Text != "+" ||
				contains(l.with, "+") && (strings.HasPrefix(a.Text, "+") || strings.HasPrefix(a.Text, ":")) || contains(l.with, "2") && operands > 1 {
				return true
			}
		}
	}
	return false
}

// spared looks for what makes a command harmless, and takes nothing for it that may be the value of an option.
func (l loss) spared(args []Word) bool {
	for i, a := range args {
		name := a.Text
		switch {
		case name == "--":
			return false
		case strings.HasPrefix(name, "--") || i == 0 && !strings.HasPrefix(name, "-"):
			if contains(l.without, name) {
				return true
			}
		case strings.HasPrefix(name, "-"):
			name, _, _ = strings.Cut(name[1:], "e") // what follows -e is a name that git clean leaves
			if slices.ContainsFunc([]byte(name), func(c byte) bool { return contains(l.without, "-"+string(c)) }) {
				return true
			}
		}
	}
	return false
}
