package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"syscall"
	"time"
)

// Env is what a process brings along. Tests set it; Environment reads it from
// the operating system. A zero field means "unknown", and is no error.
type Env struct {
	Home   string              // home directory
	Dir    string              // working directory, real path; "" when it is gone
	Getenv func(string) string // nil: no environment
	Now    func() time.Time    // nil: time.Now
	Booted func() time.Time    // when the system was started; nil: it is asked
	System string              // as GOOS; "": this one
	Asked  string              // the session that the person named; beats what was exported

	Program string   // file of this program, as which it starts processes of its own; "": the system is asked
	Environ []string // what they get; nil: what this process has
}

// In is the environment of a command in the project at root: what was exported for a
// session of another project counts only there.
func (e Env) In(root string) Env {
	named := e.Variable("REWIND_PROJECT_ROOT")
	if named == "" {
		return e
	}
	if real, err := filepath.EvalSymlinks(named); err == nil && real == root {
		return e
	}
	getenv := e.Getenv
	e.Getenv = func(key string) string {
		switch key {
		case "REWIND_SESSION_ID":
			return e.Asked
		case "REWIND_TRANSCRIPT_PATH", "REWIND_AGENT", "REWIND_PROJECT_ROOT":
			return ""
		}
		return getenv(key)
	}
	return e
}

// Environment describes this process. A missing HOME is looked up in the
// account database: hooks run with environments that agents have pruned.
func Environment() Env {
	env := Env{Home: os.Getenv("HOME"), Getenv: os.Getenv, Now: time.Now}
	if env.Home == "" || !filepath.IsAbs(env.Home) {
		env.Home = ""
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			env.Home = u.HomeDir
		}
	}
	dir, err := os.Getwd()
	if errors.Is(err, fs.ErrPermission) { // it is there, and what it has cannot be looked at
		dir, err = syscall.Getwd()
	}
	if err == nil {
		env.Dir = dir
	}
	return env
}

// HomeProblem says why the stores that are registered in the home directory may be others than the person's; "": no reason is
// known. Where HOME is not set, it is that which the system has for the user, if any.
func (e Env) HomeProblem() string {
	switch info, err := os.Stat(e.Home); {
	case e.Home == "" || e.Getenv != nil && e.Getenv("HOME") == "":
		return "HOME is not set"
	case e.Getenv != nil && !filepath.IsAbs(e.Getenv("HOME")):
		return "HOME is not an absolute path"
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the home directory %s does not exist", e.Home)
	case err == nil && !info.IsDir():
		return fmt.Sprintf("the home directory %s is not a directory", e.Home)
	}
	return ""
}

// Variable is a variable of the environment, "" where it is not set.
func (e Env) Variable(key string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(key)
}

// Time is the present.
func (e Env) Time() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// BootTime is when the system was started; zero where that is not known.
func (e Env) BootTime() time.Time {
	if e.Booted == nil {
		return bootTime()
	}
	return e.Booted()
}

// AccountDir is ~/.rewind, "" without a home.
func (e Env) AccountDir() string {
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, ".rewind")
}

// MakeAccountDir makes ~/.rewind, and gives what a file in it gets as its owner. Errors: ErrNoHome, *InPlaceError.
func (e Env) MakeAccountDir() (dir string, owner func(string) error, err error) {
	if dir = e.AccountDir(); dir == "" {
		return "", nil, ErrNoHome
	}
	owner = OwnerOf(e.Home)
	if linked, err := followAccountLink(dir); linked || err != nil {
		return dir, owner, err
	}
	return dir, owner, MakeDir(dir, owner)
}

// followAccountLink reports whether ~/.rewind is a link, as of who moved it to a larger disk. It is followed if it leads
// to a directory of the same person; else that is an error of whatever reads the registry or writes below it.
func followAccountLink(dir string) (linked bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false, nil
	}
	info, err = os.Stat(dir)
	if err == nil && info.IsDir() {
		if _, uid, err := Identity(dir); err == nil && Usable(uid) {
			return true, nil
		}
	}
	to, err := os.Readlink(dir)
	if err != nil {
		return true, err
	}
	return true, &InPlaceError{Path: dir, Dir: true, Link: to}
}
