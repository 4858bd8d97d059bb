package cli

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"rewind/engine/settings"
)

// printSettingsTable shows all settings. For a pipe each is one line, whatever its
// length; at a terminal long lists go on below, sizes have units, and the files that
// values come from are named once, at the end.
func (c *call) printSettingsTable(set *settings.Settings, projectFile string) {
	o := c.out
	if o.width() == 0 {
		t := table{columns: []column{{title: "KEY"}, {title: "VALUE"}, {title: "FROM"}}}
		for _, s := range set.Values() {
			s = c.inForce(s)
			t.rows = append(t.rows, []string{s.Key, escape(settingText(s.Value)), escape(originText(s.Origin))})
		}
		t.write(o.color, func(s string) { o.line("%s", s) })
		return
	}
	sizes := map[string]bool{}
	for _, k := range settings.Keys() {
		sizes[k.Name] = k.IsSize()
	}
	keyWidth, fromWidth := len("KEY"), len("FROM")
	for _, s := range set.Values() {
		keyWidth, fromWidth = max(keyWidth, len(s.Key)), max(fromWidth, len(shortOrigin(s.Origin)))
	}
	valueWidth := max(o.width()-keyWidth-fromWidth-2*gap, minFlex)
	row := func(st style, key, from, value string, fromStyle style) {
		space := strings.Repeat(" ", gap)
		o.line("%s%s%s%s%s", o.color.paint(st, pad(key, keyWidth)), space, o.color.paint(fromStyle, pad(from, fromWidth)), space, value)
	}
	row(dim, "KEY", "FROM", o.color.paint(dim, "VALUE"), dim)
	for _, s := range set.Values() {
		s = c.inForce(s)
		source, st := shortOrigin(s.Origin), yellow
		switch s.Origin.Source {
		case settings.FromDefault, settings.FromTier, settings.FromStore:
			st = dim
		}
		for i, l := range wrapWords(readable(s.Value, sizes[s.Key]), valueWidth) {
			if i == 0 {
				row(cyan, s.Key, source, l, st)
			} else {
				row(plain, "", "", l, plain)
			}
		}
	}
	o.line("")
	if file := c.accountFile(); file != "" {
		o.line("%s %s", o.color.paint(dim, "account:"), escape(file))
	}
	if projectFile != "" {
		o.line("%s %s", o.color.paint(dim, "project:"), escape(projectFile))
	}
}

// shortOrigin is where a value comes from, in a word.
func shortOrigin(o settings.Origin) string {
	if o.Source == settings.FromEnvironment {
		return "$" + escape(o.Name)
	}
	return escape(string(o.Source))
}

// readable is a value in words that can stand on lines of their own.
func readable(v any, size bool) []string {
	switch v := v.(type) {
	case []string:
		if len(v) == 0 {
			return []string{"none"}
		}
		words := make([]string, len(v))
		for i, w := range v {
			if words[i] = escape(w); strings.ContainsAny(w, " \t") || w == "" {
				words[i] = strconv.Quote(w)
			}
		}
		return words
	case int64:
		if size {
			return []string{exactSize(v)}
		}
	}
	return []string{escape(settingText(v))}
}

// exactSize is a size with a unit, as config takes it, where no digit is lost by that.
func exactSize(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// wrapWords puts words on lines of at most width columns, two spaces between them. A
// longer word is cut.
func wrapWords(words []string, width int) []string {
	var lines []string
	line := ""
	for _, w := range words {
		w = clip(w, width)
		if line != "" && displaywidth.String(line)+gap+displaywidth.String(w) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += strings.Repeat(" ", gap)
		}
		line += w
	}
	return append(lines, line)
}
