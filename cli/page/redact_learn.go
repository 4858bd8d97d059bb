package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Bounds of what is looked for of precious files. Past them no text is shown, since it could contain secrets.
const (
	maxValues     = 50_000
	maxValueBytes = 8 << 20
	leastValue    = 6 // bytes: anything shorter occurs everywhere
)

// usualValues are no secrets, wherever they are found.
const usualValues = " true false null none undefined localhost 127.0.0.1 0.0.0.0 development production staging testing default enabled disabled debug warning info error verbose string number object integer boolean private public admin password secret postgres sqlite mysql redis docker master origin github google "

// learn takes what a precious file held: its lines, its values, and itself as base64.
func (r *redactor) learn(content string) {
	coded := base64.StdEncoding.EncodeToString([]byte(content))
	for _, width := range []int{76, 64} { // as tools break it; without breaks it is the same pieces
		for at := 0; at < len(coded); at += width {
			if piece := strings.TrimRight(coded[at:min(at+width, len(coded))], "="); len(piece) >= 12 {
				r.keep(piece)
			}
		}
	}
	if strings.IndexByte(content, 0) >= 0 {
		return
	}
	content = strings.TrimPrefix(content, "\ufeff")
	var tree any
	if json.Unmarshal([]byte(content), &tree) == nil {
		r.leaves(tree)
	}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "-----") {
			continue
		}
		line = strings.TrimPrefix(strings.TrimPrefix(line, "- "), "export ")
		r.keep(strings.TrimRight(line, ",;"))
		r.quoted(line)
		for rest := line; ; { // a value is behind any of its separators: //host/:_authToken=VALUE
			i := strings.IndexAny(rest, "=:")
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			r.value(rest)
			r.tooShort(rest)
		}
		r.value(line)
	}
}

// leaves takes the texts and numbers of a document.
func (r *redactor) leaves(v any) {
	switch v := v.(type) {
	case string:
		r.keep(v)
		for line := range strings.Lines(v) {
			r.value(line)
		}
	case float64:
		r.keep(strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		for _, e := range v {
			r.leaves(e)
		}
	case map[string]any:
		for _, e := range v {
			r.leaves(e)
		}
	}
}

// quoted takes the texts between quotes, except the names of fields.
func (r *redactor) quoted(line string) {
	for i := 0; i < len(line); i++ {
		q := line[i]
		if q != '"' && q != '\'' && q != '`' {
			continue
		}
		end := i + 1
		for end < len(line) && line[end] != q {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) {
			continue
		}
		if !strings.HasPrefix(strings.TrimSpace(line[end+1:]), ":") {
			r.keep(line[i+1 : end])
			if s, err := strconv.Unquote(line[i : end+1]); err == nil {
				r.keep(s)
			}
		}
		i = end
	}
}

// value takes the text behind a separator in three forms: unchanged, without a comment, and without quotes and commas.
func (r *redactor) value(s string) {
	const around = " \t\r\n\"',;`[]{}"
	r.keep(strings.Trim(s, around))
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
		r.keep(strings.Trim(s, around))
	}
	s = strings.Trim(s, around)
	if i := strings.LastIndexByte(s, '@'); i > 0 { // user:password@host
		user := s[:i]
		if j := strings.Index(user, "//"); j >= 0 {
			user = user[j+2:]
		}
		if _, pass, ok := strings.Cut(user, ":"); ok {
			r.keep(pass)
			if plain, err := url.PathUnescape(pass); err == nil {
				r.keep(plain)
			}
		} else {
			r.keep(user)
		}
	}
}

// tooShort counts a value that is not looked for by itself. Its line is: beside its name it is redacted.
func (r *redactor) tooShort(v string) {
	v = strings.Trim(v, " \t\r\n\"',;`[]{}")
	usual := strings.Contains(usualValues, " "+strings.ToLower(v)+" ")
	if v != "" && len(v) < leastValue && !usual && strings.IndexFunc(v, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) >= 0 {
		r.short[v] = true
	}
}

// keep notes one text that is not to be seen.
func (r *redactor) keep(v string) {
	v = strings.TrimSpace(v)
	if len(v) < leastValue {
		return
	}
	if r.values[v] || strings.Contains(usualValues, " "+strings.ToLower(v)+" ") ||
		strings.IndexFunc(v, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) < 0 {
		return
	}
	if len(r.values) >= maxValues || r.bytes+len(v) > maxValueBytes {
		r.full = true
		return
	}
	r.values[v] = true
	r.bytes += len(v)
	for _, in := range inJSON(v) { // as a tool was given it
		r.values[in] = true
	}
}

// inJSON are the ways in which programs write a text into JSON: characters of HTML, those beyond ASCII, and slashes are
// escaped or not.
func inJSON(text string) (ways []string) {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return nil
	}
	plain := strings.TrimSuffix(out.String(), "\n")
	plain = plain[1 : len(plain)-1]
	html := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(plain)
	beyond := func(s, form string) string { // with what is beyond ASCII in a form, "" for unchanged
		var out strings.Builder
		for _, c := range s {
			if form == "" || c < 0x80 {
				out.WriteRune(c)
				continue
			}
			for _, u := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, form, u)
			}
		}
		return out.String()
	}
	slashes := strings.NewReplacer("/", `\/`)
	for _, form := range []string{"", `\u%04x`, `\u%04X`} {
		for _, way := range []string{beyond(plain, form), beyond(html, form), beyond(slashes.Replace(plain), form)} {
			if way != text && !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
	}
	return ways
}
