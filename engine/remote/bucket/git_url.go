package bucket

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// scpLike reports whether text is host:path or user@host:path. One letter is a drive of Windows.
func scpLike(text string) bool {
	host, path, ok := strings.Cut(text, ":")
	return ok && len(host) > 1 && path != "" && !strings.ContainsAny(host, "/\\")
}

func openGit(address string, o Options) (Bucket, error) {
	at, prefix, err := resolveGit(address, o)
	if err != nil {
		return nil, err
	}
	g := &gitPlace{url: at, prefix: refsBelow, env: environment(o), timeout: o.Timeout, existing: o.Existing, keep: o.Keep}
	if prefix != "" {
		g.prefix += prefix + "/"
	}
	g.timeout = cmp.Or(g.timeout, 30*time.Second)
	return g, nil
}

// Resolve is a URL that means the same in any directory: of "git:NAME" the URL that the repository of Options.Project has for NAME, and of
// a relative path an absolute one. Others stay as they are. Error: *URLError.
func Resolve(address string, o Options) (string, error) {
	if !strings.HasPrefix(address, "git:") {
		return address, nil
	}
	at, prefix, err := resolveGit(address, o)
	if prefix != "" {
		prefix = "#" + prefix
	}
	return "git:" + at + prefix, err
}

// resolveGit is what git is told to connect to.
func resolveGit(address string, o Options) (at, prefix string, err error) {
	wrong := func(reason, next string) (string, string, error) {
		return "", "", &URLError{withoutSecrets(address), reason, next}
	}
	at, prefix, cut := strings.Cut(strings.TrimPrefix(address, "git:"), "#")
	first, _, _ := strings.Cut(prefix, "/")
	if cut && (CheckName(prefix) != nil || first+"/" == chainsBelow || first+"/" == largeBelow) {
		return wrong("what follows # is no prefix", "Write it with a-z, 0-9, - and /.")
	}
	prefix = refText(prefix)
	if strings.ContainsFunc(at, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.HasPrefix(at, "-") || at == "" {
		return wrong("this is no URL of a git repository", "Write git: and a remote of this repository, as in git:origin, or a URL, as in git:https://host/repository.git.")
	}
	scheme, _, isURL := strings.Cut(at, "://")
	switch {
	case isURL:
		switch scheme {
		case "https", "http", "ssh", "git", "git+ssh", "ssh+git", "file":
			return at, prefix, nil
		}
		return wrong("git is not used by "+scheme, "Use https, ssh, or the path of a repository.")
	case strings.Contains(at, "::"):
		return wrong("git is not used by other programs", "Use https, ssh, or the path of a repository.")
	case strings.HasPrefix(at, "~/") && o.Home != "":
		return filepath.Join(o.Home, at[2:]), prefix, nil
	case filepath.IsAbs(at):
		return at, prefix, nil
	case strings.HasPrefix(at, "./"), strings.HasPrefix(at, "../"), at == "..":
		if o.Dir == "" {
			return wrong("this is a relative path", "Give the absolute path of the repository.")
		}
		return filepath.Join(o.Dir, at), prefix, nil
	case scpLike(at):
		return at, prefix, nil
	}
	repo, ok := gitrepo.Repo{}, false
	if o.Project != "" {
		repo, ok = gitrepo.Find(o.Project)
	}
	if !ok {
		return wrong("the project is in no git repository, so it has no remote of this name", "Give the URL of a repository, as in git:https://host/repository.git.")
	}
	repo.Getenv = o.getenv
	named, have := repo.Remote(o.Home, at)
	if named == "" {
		if len(have) == 0 {
			return wrong("the git repository of the project has no remote", "Make one with git remote add, or give the URL of a repository, as in git:https://host/repository.git.")
		}
		return wrong("the git repository of the project has no such remote", "It has "+strings.Join(have, ", ")+".")
	}
	if local := strings.HasPrefix(named, ".") && (named == "." || named == ".." || strings.HasPrefix(named, "./") || strings.HasPrefix(named, "../")); local {
		named = filepath.Join(repo.WorkTree, named)
	}
	o.Project = "" // a URL, not another name
	at, _, err = resolveGit("git:"+named, o)
	if bad, ok := errors.AsType[*URLError](err); ok {
		bad.Reason = "of the remote " + strings.TrimPrefix(address, "git:") + ": " + bad.Reason
	}
	return at, prefix, err
}

// LocalPath is the path of what a URL names, "" where it is not a path of this machine, or not known without asking.
func LocalPath(address string, o Options) string {
	path := strings.TrimPrefix(address, "file://")
	if strings.HasPrefix(address, "git:") {
		path, _, _ = resolveGit(address, o)
		path = strings.TrimPrefix(path, "file://")
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// withoutSecrets is a URL as a message may have it.
func withoutSecrets(address string) string {
	rest, git := strings.CutPrefix(address, "git:")
	u, err := url.Parse(rest)
	if err != nil || u.User == nil || u.Host == "" {
		return address
	}
	if _, has := u.User.Password(); has || u.Scheme == "https" || u.Scheme == "http" {
		u.User = nil
	}
	if git {
		return "git:" + u.String()
	}
	return u.String()
}
