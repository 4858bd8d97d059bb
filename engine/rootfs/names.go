package rootfs

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// reservedPrefix begins the names of temporary and displaced files.
const reservedPrefix = ".rewind-tmp-"

const asideSuffix = ".x"

// IsReserved reports whether name is one that a restore gives to its
// temporary and displaced files. A scan passes over them.
func IsReserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// Reserved makes a reserved name. suffix has no slash and is at most 200 bytes.
func Reserved(suffix string) string { return reservedPrefix + suffix }

// IsRestores reports whether name is one that only a restore makes: the prefix, 16 hexadecimal digits that it draws,
// a hyphen, and a number.
func IsRestores(name string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(name, asideSuffix), reservedPrefix)
	random, number, cut := strings.Cut(rest, "-")
	return ok && cut && len(random) == 16 && strings.Trim(random, "0123456789abcdef") == "" && number != "" && strings.Trim(number, "0123456789") == ""
}

// NameError says that a path is refused for what it is called.
type NameError struct{ Path, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("path %q is refused: %s", e.Path, e.Reason) }

// CheckName refuses (*NameError) what cannot be a name in a directory of the
// project: empty, "." and "..", a slash, NUL, and ".git" in any spelling that
// some file system takes for it. On Windows also what is no plain name there.
func CheckName(name string) error {
	switch {
	case name == "":
		return &NameError{name, "empty component"}
	case name == "." || name == "..":
		return &NameError{name, "it has a component " + name}
	case len(name) > 255:
		return &NameError{name, "component longer than 255 bytes"}
	}
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '/':
			return &NameError{name, "slash in a name"}
		case 0:
			return &NameError{name, "NUL in a name"}
		}
	}
	if IsDotGit(name) {
		return &NameError{name, "it is inside .git"}
	}
	if runtime.GOOS == "windows" && (strings.ContainsAny(name, `\:`) || !filepath.IsLocal(name)) {
		return &NameError{name, "not a name on this system"}
	}
	return nil
}

// CheckPath refuses (*NameError) a path that has a component that CheckName
// refuses. The empty path is the root and is fine.
func CheckPath(path string) error {
	if path == "" {
		return nil
	}
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if err := CheckName(name); err != nil {
			return &NameError{path, err.(*NameError).Reason}
		}
	}
	return nil
}

// IsDotGit reports whether a file system somewhere would take name for ".git":
// in any letter case, with trailing dots, spaces or a stream name (NTFS), as
// its short name git~1, or with code points that HFS+ ignores.
func IsDotGit(name string) bool {
	if len(name) < 4 {
		return false
	}
	if name[0] != '.' && name[0] != 'g' && name[0] != 'G' && name[0] < 0x80 {
		return false
	}
	plain := name
	if strings.IndexFunc(name, ignoredByHFS) >= 0 {
		plain = strings.Map(func(r rune) rune {
			if ignoredByHFS(r) {
				return -1
			}
			return r
		}, name)
	}
	if stem, _, ok := strings.Cut(plain, ":"); ok {
		plain = stem
	}
	plain = strings.TrimRight(plain, ". ")
	return strings.EqualFold(plain, ".git") || strings.EqualFold(plain, "git~1")
}

// ignoredByHFS are the code points that HFS+ leaves out when it compares names.
func ignoredByHFS(r rune) bool {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	}
	return false
}

// Join gives the path of a name in a directory, whose path is "" for the root. Unlike path.Join it does not
// look at each byte.
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Split gives a path's directory, "" for the root, and its name.
func Split(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
