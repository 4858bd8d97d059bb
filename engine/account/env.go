package account

import (
	"os"
	"os/user"
	"path/filepath"
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
	if dir, err := os.Getwd(); err == nil {
		env.Dir = dir
	}
	return env
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
