package page

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/session"
)

// redactedMark replaces what was left out of a text.
const redactedMark = "[redacted]"

// secretForms are keys and tokens as their makers write them. A form that a cut can leave half of, at the end of a
// text, also needs its beginning in secretBegun.
var secretForms = []string{
	`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`,
	`AKIA[0-9A-Z]{16}`, `ASIA[0-9A-Z]{16}`,
	`gh[pousr]_[A-Za-z0-9]{30,}`, `github_pat_[A-Za-z0-9_]{40,}`, `glpat-[A-Za-z0-9_-]{20,}`,
	`\bsk-(?:ant|proj|svcacct|or)-[A-Za-z0-9_-]{16,}`, `\bsk-[A-Za-z0-9]{32,}`, `[rs]k_live_[A-Za-z0-9]{16,}`, `xox[abeoprs]-[A-Za-z0-9-]{10,}`, `AIza[0-9A-Za-z_-]{35}`,
	`npm_[A-Za-z0-9]{36}`, `pypi-[A-Za-z0-9_-]{50,}`, `hf_[A-Za-z0-9]{30,}`, `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, `AGE-SECRET-KEY-1[0-9A-Z]{50,}`,
	`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`,
	`://[^\s/:@"'<>]{1,256}:[^\s/@"'<>]{1,256}@`,
	`[Bb]earer [A-Za-z0-9._~+/-]{20,}=*`,
	`(?i:aws_secret_access_key)["']?\s{0,8}[=:]\s{0,8}["']?[A-Za-z0-9/+=]{30,}`, `dop_v1_[a-f0-9]{40,}`, `hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}`,
	`AccountKey=[A-Za-z0-9+/=]{20,}`, `\b\d{8,10}:AA[A-Za-z0-9_-]{30,}`,
	`(?i:password|passwd)["']?[ \t]{0,8}[=:][ \t]{0,8}["']?[^\s"'(){}<>,;$]{6,}`,
}

// secretBegun is how those begin, at the end of a text that was cut.
const secretBegun = `(?:-----BEGIN|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|\bsk-|[rs]k_live_|xox[abeoprs]-|AIza|npm_|pypi-|hf_|SG\.|AGE-SECRET-KEY-|eyJ|://[^\s/:@]+:|[Bb]earer )[^\s]*$`

// redactor leaves secrets out of what is shared: precious files, the values in them, what the setting
// "redact" says, and keys and tokens of well-known forms. It is for one goroutine.
type redactor struct {
	forms   []*regexp.Regexp
	begun   *regexp.Regexp
	named   *ignore.Named
	marked  map[string]bool // paths that are precious, and were seen
	values  map[string]bool // of precious files
	bytes   int             // of them
	full    bool            // they had more than is looked for: no text is shown
	starts  map[string][]string
	replace *strings.Replacer
	calls   map[string]bool // tool calls that were about precious files
	short   map[string]bool // values that are too short to be looked for alone
	places  machinePlaces   // directories of this machine, which are not shared

	count   int             // places in texts
	leftOut map[string]bool // precious files that the rows are about
}

// newRedactor compiles the setting. Error: *app.UsageError.
func newRedactor(patterns, precious []string) (*redactor, error) {
	r := &redactor{begun: regexp.MustCompile(secretBegun), named: ignore.NewNamed(precious), marked: map[string]bool{}, values: map[string]bool{}, calls: map[string]bool{}, leftOut: map[string]bool{}, short: map[string]bool{}}
	for _, form := range secretForms {
		r.forms = append(r.forms, regexp.MustCompile(form))
	}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err == nil && !re.MatchString("") {
			r.forms = append(r.forms, re)
			continue
		}
		why := "it matches the empty text"
		if err != nil {
			why = strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		}
		return nil, &app.UsageError{Msg: "the setting redact has a pattern that cannot be used: " + app.Quote(p) + ": " + why, Hint: "rewind config redact PATTERN… sets all of them"}
	}
	return r, nil
}

// precious reports whether a file is left out, whatever it holds.
func (r *redactor) precious(name string) bool { return r.marked[name] || r.named.Has(name) }

// learned ends learning.
func (r *redactor) learned() {
	var pairs []string
	all := make([]string, 0, len(r.values))
	for v := range r.values {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // of two at one place the longer
	for _, v := range all {
		pairs = append(pairs, v, redactedMark)
	}
	r.starts = map[string][]string{}
	for _, v := range all {
		if len(v) > 4 {
			r.starts[v[:4]] = append(r.starts[v[:4]], v)
		}
	}
	r.replace = nil
	if len(pairs) > 0 {
		r.replace = strings.NewReplacer(pairs...)
	}
}

// text is a text without secrets. Invalid bytes stay.
func (r *redactor) text(s string) string { return r.redact(s, 0) }

// summary is what a tool call was about, in a line: nothing of it, where that is a precious file. It may have
// been cut when it was taken down, in the middle of a secret.
func (r *redactor) summary(s, root string) string {
	if r.about(s, root) {
		r.count++
		return redactedMark
	}
	return r.cut(r.text(s))
}

// label is a session's, from texts that are cut already.
func (r *redactor) label(s session.Info) string { return r.cut(r.text(s.Label())) }

// cut leaves out the beginning of a secret at the end of a text that was cut.
func (r *redactor) cut(s string) string {
	end, was := strings.CutSuffix(s, "…")
	if !was {
		return s
	}
	if begun, ok := r.places.begun(end); ok {
		return begun + "…"
	}
	for at := max(0, len(end)-4096); at+4 <= len(end); at++ {
		for _, v := range r.starts[end[at:at+4]] {
			if len(v) > len(end)-at && strings.HasPrefix(v, end[at:]) {
				r.count++
				return end[:at] + redactedMark
			}
		}
	}
	if at := r.begun.FindStringIndex(end); at != nil {
		r.count++
		return end[:at[0]] + redactedMark
	}
	return s
}

// patch is a patch without secrets: its lines stay lines, and their signs.
func (r *redactor) patch(s string) string { return r.redact(s, 1) }

// redact also replaces this machine's directories in file names.
func (r *redactor) redact(s string, keep int) string { return r.places.shorten(r.secrets(s, keep)) }

// secrets keeps of each further line of what it replaces that many bytes.
func (r *redactor) secrets(s string, keep int) string {
	if r.full && s != "" {
		r.count++
		return redactedMark
	}
	if r.replace != nil {
		if now := r.replace.Replace(s); now != s {
			r.count += max(1, strings.Count(now, redactedMark)-strings.Count(s, redactedMark))
			s = now
		}
	}
	for _, re := range r.forms {
		s = re.ReplaceAllStringFunc(s, func(found string) string {
			r.count++
			if keep == 0 {
				return redactedMark
			}
			out := redactedMark
			for i, line := range strings.Split(found, "\n") {
				if i > 0 {
					out += "\n" + line[:min(keep, len(line))]
				}
			}
			return out
		})
	}
	return s
}

// call leaves out what a tool was given, where that is about a precious file, and marks the call: its answer goes as well.
func (r *redactor) call(id, input, about, root string) (without bool) {
	if !r.about(about, root) && !r.about(inputPath(input), root) {
		return false
	}
	r.count++
	r.calls[id] = true
	return true
}

// inputPath is the file of a tool's input that says something else too, "" for none.
func inputPath(input string) string {
	var fields struct {
		File     string `json:"file_path"`
		Path     string `json:"path"`
		Notebook string `json:"notebook_path"`
	}
	_ = json.Unmarshal([]byte(input), &fields) // what is none has no path
	for _, p := range []string{fields.File, fields.Path, fields.Notebook} {
		if p != "" {
			return p
		}
	}
	return ""
}

// about reports whether a path, or a word of a command, is a precious file. Of a command only files that were
// seen count, and those named .env: a pattern such as *.key fits much code.
func (r *redactor) about(text, root string) bool {
	if text == "" {
		return false
	}
	in := func(p string) string {
		return strings.TrimPrefix(strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), strings.TrimSuffix(root, "/")+"/"), "./")
	}
	if !strings.ContainsAny(text, " \t\n;|&<>()") && r.precious(in(text)) {
		return true
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`"'`+"`;|&<>()=,", c) }) {
		if word = in(word); r.marked[word] || r.marked[path.Base(word)] || path.Base(word) == ".env" {
			return true
		}
	}
	return false
}
