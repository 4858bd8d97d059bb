package setup

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/settings"
)

// settingLines is how many lines of a terminal a value may take in the table of all settings.
const settingLines = 2

// pipeWidth is how wide the table is where no terminal says it.
const pipeWidth = 80

// printSettingsTable shows all settings with their units. At a terminal a long list is cut
// after settingLines; in a pipe it is whole. The files that values come from are named at the end.
func printSettingsTable(c *app.Call, set *settings.Settings, projectFile string) {
	o := c.Out
	keys := map[string]settings.Key{}
	for _, k := range settings.Keys() {
		keys[k.Name] = k
	}
	keyWidth, fromWidth := len("KEY"), len("FROM")
	for _, s := range set.Values() {
		keyWidth, fromWidth = max(keyWidth, len(s.Key)), max(fromWidth, len(shortOrigin(s.Origin)))
	}
	width, most := o.Width(), settingLines
	if width == 0 {
		width, most = pipeWidth, math.MaxInt
	}
	valueWidth := max(width-keyWidth-fromWidth-2*screen.Gap, screen.MinFlex)
	cut := false
	row := func(st screen.Style, key, from, value string, fromStyle screen.Style) {
		space := strings.Repeat(" ", screen.Gap)
		o.Line("%s%s%s%s%s", o.Color.Paint(st, app.Pad(key, keyWidth)), space, o.Color.Paint(fromStyle, app.Pad(from, fromWidth)), space, value)
	}
	row(screen.Dim, "KEY", "FROM", o.Color.Paint(screen.Dim, "VALUE"), screen.Dim)
	for _, s := range set.Values() {
		s = inForce(c, s)
		source, st := shortOrigin(s.Origin), screen.Yellow
		switch s.Origin.Source {
		case settings.FromDefault, settings.FromTier, settings.FromStore:
			st = screen.Dim
		}
		lines, whole := cutLines(readable(s.Value, keys[s.Key]), valueWidth, most)
		cut = cut || !whole
		for i, l := range lines {
			if i == 0 {
				row(screen.Cyan, s.Key, source, l, st)
			} else {
				row(screen.Plain, "", "", l, screen.Plain)
			}
		}
	}
	o.Line("")
	if cut {
		o.Line("rewind config KEY shows a whole list.")
	}
	if file := c.AccountFile(); file != "" {
		o.Line("%s %s", o.Color.Paint(screen.Dim, "account:"), app.Escape(file))
	}
	if projectFile != "" {
		o.Line("%s %s", o.Color.Paint(screen.Dim, "project:"), app.Escape(projectFile))
	}
}

// shortOrigin is where a value comes from, in a word.
func shortOrigin(o settings.Origin) string {
	if o.Source == settings.FromEnvironment {
		return "$" + app.Escape(o.Name)
	}
	return app.Escape(string(o.Source))
}

// readable is a value in words that can stand on lines of their own.
func readable(v any, key settings.Key) []string {
	switch v := v.(type) {
	case []string:
		if len(v) == 0 {
			return []string{"none"}
		}
		words := make([]string, len(v))
		for i, w := range v {
			if words[i] = app.Escape(w); strings.ContainsAny(w, " \t") || w == "" {
				words[i] = strconv.Quote(w)
			}
		}
		return words
	case int64:
		switch {
		case key.IsSize():
			return []string{app.ExactSize(v)}
		case key.Unit != "":
			return []string{strconv.FormatInt(v, 10) + " " + key.Unit}
		}
	}
	return []string{app.Escape(settingText(v))}
}

// wrapWords puts words on lines of at most width columns, two spaces between them. A
// longer word is cut.
func wrapWords(words []string, width int) []string {
	var lines []string
	line := ""
	for _, w := range words {
		w = screen.Clip(w, width)
		if line != "" && displaywidth.String(line)+screen.Gap+displaywidth.String(w) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += strings.Repeat(" ", screen.Gap)
		}
		line += w
	}
	return append(lines, line)
}

// cutLines is wrapWords with at most so many lines, and one more that counts what does not fit.
func cutLines(words []string, width, most int) (lines []string, whole bool) {
	lines = wrapWords(words, width)
	if len(lines)-1 <= most {
		return lines, true
	}
	shown := len(words)
	for len(wrapWords(words[:shown], width)) > most {
		shown--
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more", len(words)-shown)), false
}
