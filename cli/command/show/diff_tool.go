package show

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
)

// defaultTool is --tool without a command.
const defaultTool = "auto"

// diffTool writes both sides beside each other, has a program show them, and takes them away again.
func diffTool(ctx context.Context, c *app.Call, p *project.Project, o inspect.DiffOptions, tool string) error {
	line, err := toolLine(ctx, c, tool)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rewind-diff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	old, new := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, d := range []string{old, new} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	files, err := inspect.DiffSides(ctx, p, o, old, new)
	if err != nil {
		return err
	}
	c.Out.EndProgress()
	if len(files) == 0 {
		return nil
	}
	if len(files) == 1 { // many tools take files alone
		old, new = sideFile(old, files[0].Path), sideFile(new, files[0].Path)
	}
	argv := app.ShellCommand(line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LOCAL="+old, "REMOTE="+new)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Out.Stdin, c.Out.Stdout.Writer, c.Out.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 && ctx.Err() == nil {
		return nil // as diff ends where something differs
	}
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// sideFile is a file of one side, made empty where that side has none.
func sideFile(dir, path string) string {
	file := filepath.Join(dir, filepath.FromSlash(path))
	if _, err := os.Lstat(file); err != nil {
		_ = os.MkdirAll(filepath.Dir(file), 0o700) // the tool says what is missing
		_ = os.WriteFile(file, nil, 0o600)
	}
	return file
}

// toolLine is the shell command that shows $LOCAL and $REMOTE.
func toolLine(ctx context.Context, c *app.Call, tool string) (string, error) {
	const sides = ` "$LOCAL" "$REMOTE"`
	if tool != defaultTool && strings.TrimSpace(tool) != "" {
		return withSides(tool, sides), nil
	}
	if tool := c.Env.Getenv("REWIND_DIFFTOOL"); strings.TrimSpace(tool) != "" {
		return withSides(tool, sides), nil
	}
	git := func(key string) string {
		cmd := exec.CommandContext(ctx, "git", "config", "--get", key)
		cmd.Dir = c.Env.Dir
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if name := git("diff.tool"); name != "" {
		if line := git("difftool." + name + ".cmd"); line != "" {
			return line, nil
		}
		if path := git("difftool." + name + ".path"); path != "" {
			name = path
		}
		if _, err := exec.LookPath(name); err == nil {
			return app.ShellQuote(name) + sides, nil
		}
	}
	return "", &app.UsageError{Msg: "no diff tool is set", Hint: "rewind diff --tool=CMD, or set REWIND_DIFFTOOL"}
}

// withSides puts both sides behind a command that does not name them itself.
func withSides(line, sides string) string {
	if strings.Contains(line, "$LOCAL") || strings.Contains(line, "${LOCAL}") {
		return line
	}
	return line + sides
}
