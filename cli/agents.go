package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"rewind/engine/project"
	"rewind/hookio"
	"rewind/hookio/register"
)

// agentFiles is where one agent reads hooks, and what it is called.
type agentFiles struct {
	agent hookio.Agent
	title string
	dir   string                  // its own directory
	files []register.SettingsFile // all that it reads, the person's own first; contents are not read yet
	// settings and hooks are the files that we register in; hooks is Droid's.
	settings, hooks string
}

// agentsOf lists the agents whose hooks rewind registers. root may be "".
func agentsOf(env project.Env, root string) []agentFiles {
	if env.Home == "" && env.Getenv("CLAUDE_CONFIG_DIR") == "" {
		return nil
	}
	claude := agentFiles{agent: hookio.Claude, title: "Claude Code", dir: env.Getenv("CLAUDE_CONFIG_DIR")}
	if claude.dir == "" {
		claude.dir = filepath.Join(env.Home, ".claude")
	}
	claude.settings = filepath.Join(claude.dir, "settings.json")
	claude.files = append(claude.files, register.SettingsFile{Path: claude.settings})
	if root != "" {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			claude.files = append(claude.files, register.SettingsFile{Path: filepath.Join(root, ".claude", name)})
		}
	}
	claude.files = append(claude.files, register.SettingsFile{Path: managedSettings()})
	out := []agentFiles{claude}
	if env.Home == "" {
		return out
	}
	droid := agentFiles{agent: hookio.Droid, title: "Droid", dir: filepath.Join(env.Home, ".factory")}
	droid.settings, droid.hooks = filepath.Join(droid.dir, "settings.json"), filepath.Join(droid.dir, "hooks.json")
	dirs := []string{droid.dir}
	if root != "" {
		dirs = append(dirs, filepath.Join(root, ".factory"))
	}
	for _, dir := range dirs {
		droid.files = append(droid.files,
			register.SettingsFile{Path: filepath.Join(dir, "hooks.json"), TopLevel: true},
			register.SettingsFile{Path: filepath.Join(dir, "settings.json")})
	}
	return append(out, droid)
}

// managedSettings is where an organisation's policy lies.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\ProgramData\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// present reports whether the agent was ever used on this account. One whose
// directory cannot be looked at was: what is done with it says what is wrong.
func (a *agentFiles) present() bool {
	info, err := os.Stat(a.dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.IsDir()
}

// maxSettingsFile bounds what is read of an agent's settings, in bytes.
const maxSettingsFile = 16 << 20

// inspect reads the files and says what of ours is in them.
func (a *agentFiles) inspect() (found []register.FoundEntry, findings []register.Finding, err error) {
	var files []register.SettingsFile
	for _, f := range a.files {
		if f.Content, err = readFileOrNone(f.Path); err != nil {
			return nil, nil, err
		}
		if f.Content != nil {
			files = append(files, f)
		}
	}
	found, findings = register.Inspect(a.agent, files)
	return found, findings, nil
}

// readFileOrNone reads a regular file; nil where there is none.
func readFileOrNone(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err == nil && info.Size() > maxSettingsFile {
		err = &fs.PathError{Op: "read", Path: file, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}
