package maintain

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// rewriteWindows lets change alter each of a checkpoint's windows; it reports whether it did. A window that cannot
// be read is removed, since its content is unknown.
func rewriteWindows(data string, change func(*manifest.Window) bool) string {
	windows, err := manifest.ParseWindows(data)
	if err != nil {
		return ""
	}
	changed := false
	for i := range windows {
		changed = change(&windows[i]) || changed
	}
	if !changed {
		return data
	}
	return string(manifest.AppendWindows(nil, windows))
}

// rewritePending is rewriteWindows for what no checkpoint has taken along yet.
func rewritePending(ctx context.Context, p *project.Project, change func(*manifest.Window) bool) error {
	return commit.Appending(ctx, p, func(*cas.Appender) error {
		return window.Rewrite(p, func(w *manifest.Window) bool {
			change(w)
			return true
		})
	})
}

// named adds to the paths that are forgotten those that windows and changed paths alone name.
func (f *forgetter) named(c *manifest.Checkpoint) {
	windows, _ := manifest.ParseWindows(c.Windows) // what is damaged goes
	for _, w := range windows {
		for _, file := range w.Files {
			if f.chosen.Match(file) {
				if !f.held(file) {
					f.paths[file] = true
				}
			}
		}
	}
	changed, _ := manifest.ParseChanged(c.Changed)
	for _, at := range changed {
		if f.chosen.Match(at.Path) {
			if !f.held(at.Path) {
				f.paths[at.Path] = true
			}
		}
	}
}

// silence takes the forgotten paths out of what a checkpoint says beside its tree: its windows, when paths were written,
// and what its tool was called with.
func (f *forgetter) silence(c *manifest.Checkpoint) {
	c.Windows = rewriteWindows(c.Windows, f.window)
	if changed, err := manifest.ParseChanged(c.Changed); err != nil {
		c.Changed = ""
	} else if left := slices.DeleteFunc(slices.Clone(changed), func(at manifest.Changed) bool { return f.forgets(at.Path) }); len(left) < len(changed) {
		c.Changed = string(manifest.AppendChanged(nil, left))
	}
	if f.mentions(c.ToolSummary) {
		c.ToolSummary = ""
	}
}

// window takes them out of one window, and reports whether it named any.
func (f *forgetter) window(w *manifest.Window) bool {
	left := slices.DeleteFunc(slices.Clone(w.Files), f.forgets)
	named := len(left) < len(w.Files) || f.mentions(w.Summary)
	if named {
		w.Files, w.Summary = left, ""
	}
	return named
}

func (f *forgetter) forgets(path string) bool { return f.chosen.Match(path) || f.held(path) }

// mentions reports whether a summary may name a forgotten path: whole, or by its last part.
func (f *forgetter) mentions(summary string) bool {
	if summary == "" || len(f.paths) == 0 {
		return false
	}
	if f.names == nil {
		f.names = map[string]bool{}
		for p := range f.paths {
			f.names[path.Base(p)] = true
		}
	}
	for word := range strings.FieldsFuncSeq(summary, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&<>()=,:", r) }) {
		if f.names[path.Base(word)] || f.forgets(path.Clean(word)) {
			return true
		}
	}
	for name := range f.names { // with a space in it
		if strings.ContainsAny(name, " '\"`;|&<>()=,:") && strings.Contains(summary, name) {
			return true
		}
	}
	return strings.HasSuffix(summary, "…") && f.cutOff(summary)
}

// cutOff reports whether a summary that was cut off may end within a forgotten path.
func (f *forgetter) cutOff(summary string) bool {
	summary = strings.TrimSuffix(summary, "…")
	word := summary[strings.LastIndexAny(summary, " \t\n'\"`;|&<>()=,:")+1:]
	for p := range f.paths {
		if word != "" && (strings.HasPrefix(p, path.Clean(word)) || strings.HasPrefix(path.Base(p), path.Base(word))) {
			return true
		}
	}
	return false
}

// window marks a text in one window, and reports whether it had it. A file whose name has it goes.
func (f *textForgetter) window(w *manifest.Window) bool {
	b := []byte(w.Summary)
	n := f.mark.text(b, 0)
	if n > 0 {
		w.Summary = string(b)
	}
	if f.has(w.Tool) {
		w.Tool = ""
		n++
		f.places++
	}
	left := slices.DeleteFunc(slices.Clone(w.Files), func(file string) bool { return f.mark.text([]byte(file), 0) > 0 })
	if n += len(w.Files) - len(left); n > 0 {
		w.Files = left
		f.places += n
	}
	return n > 0
}

// windowsSay reports whether windows have the text.
func (f *textForgetter) windowsSay(data string) bool {
	windows, err := manifest.ParseWindows(data)
	return err != nil || slices.ContainsFunc(windows, func(w manifest.Window) bool {
		return slices.ContainsFunc(append([]string{w.Summary}, w.Files...), func(s string) bool { return f.mark.text([]byte(s), 0) > 0 })
	})
}
