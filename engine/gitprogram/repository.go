package gitprogram

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// Repository runs git's plumbing on a repository whose configuration and hooks may be hostile: no program that they name is
// run, no gc begins, and nothing is fetched.
type Repository struct {
	GitDir  string   // of a linked worktree: its own
	Index   string   // is used in the place of the index; "" for the index itself
	Objects []string // further directories with objects, which are only read
}

// harmless are settings that come before those of the repository. Beside hooks and the file system monitor, a repository can
// name programs for ssh, proxies, credentials, pagers, editors, signatures, filters, textual diffs and references of alternates;
// the commands that are run need none of them, and what would fetch is forbidden by GIT_ALLOW_PROTOCOL, "ext::" remotes too.
var harmless = [...]string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "core.pager=cat", "core.editor=false",
	"core.sshCommand=false", "core.gitProxy=false", "core.askPass=false", "credential.helper=", "core.alternateRefsCommand=false", "gpg.program=false",
	"log.showSignature=false", "core.attributesFile=" + os.DevNull,
	"core.warnAmbiguousRefs=false", // else git looks for references of the names that all ids would be, twelve looks at files for each
}

// Output runs git with input at its standard input, and gives what it prints. Errors: *MissingError, *FailedError.
func (r Repository) Output(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	all := []string{"--no-pager", "--no-replace-objects", "--literal-pathspecs"}
	for _, s := range harmless {
		all = append(all, "-c", s)
	}
	cmd, stderr, err := command(ctx, "", append(all, args...)...)
	if err != nil {
		return nil, err
	}
	cmd.Dir = r.GitDir
	cmd.Stdin = bytes.NewReader(input)
	// The work tree that the configuration of a submodule names may be gone, and then git would refuse.
	cmd.Env = append(cmd.Env, "GIT_DIR="+r.GitDir, "GIT_WORK_TREE="+r.GitDir, "GIT_ALLOW_PROTOCOL=none", "GIT_GRAFT_FILE="+os.DevNull, "GIT_ATTR_NOSYSTEM=1")
	if r.Index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+r.Index)
	}
	if len(r.Objects) > 0 {
		cmd.Env = append(cmd.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+pathList(r.Objects))
	}
	out, err := cmd.Output()
	var missing *exec.Error
	if errors.As(err, &missing) {
		return nil, &MissingError{}
	}
	if err = failed(ctx, cmd, stderr, err); err != nil {
		if f := (*FailedError)(nil); errors.As(err, &f) {
			f.Command = "git " + args[0]
		}
	}
	return out, err
}

// pathList joins directories as git reads them in a variable: one with a separator in it is quoted.
func pathList(dirs []string) string {
	var list []string
	for _, d := range dirs {
		if strings.ContainsRune(d, os.PathListSeparator) || strings.HasPrefix(d, `"`) {
			d = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(d) + `"`
		}
		list = append(list, d)
	}
	return strings.Join(list, string(os.PathListSeparator))
}
