package shell

import (
	"regexp"
	"strconv"
	"strings"
)

// InPlace reads an invocation of sed or perl that edits files in place: the files, and what the script makes of a
// text. apply is nil where the script is more than substitutions and deletions of lines, or is in a file.
func (inv *Invocation) InPlace() (files []Word, apply func(text string) string) {
	perl := inv.Name == "perl"
	if inv.Name != "sed" && !perl && inv.Name != "ruby" || !inv.inPlace() {
		return nil, nil
	}
	var scripts []string
	extended, whole, known := perl, false, inv.Name != "ruby"
	options := true
	for i := 0; i < len(inv.Args); i++ {
		a := inv.Args[i].Text
		switch {
		case options && a == "--":
			options = false
		case options && (a == "-E" || a == "-r" || a == "--regexp-extended"):
			extended = true
		case options && (strings.HasPrefix(a, "--expression=") || strings.HasPrefix(a, "--file=")):
			_, script, _ := strings.Cut(a, "=")
			scripts, known = append(scripts, script), known && a[2] == 'e'
		case options && strings.HasPrefix(a, "--"):
			known = known && strings.HasPrefix(a, "--in-place")
		case options && len(a) > 1 && a[0] == '-':
			flags, rest, _ := strings.Cut(a[1:], "i") // what follows is a suffix in sed, and may be in perl
			flags += strings.TrimLeft(rest, ".bakorig~")
			extended = extended || strings.ContainsAny(flags, "Er")
			whole = whole || perl && strings.HasPrefix(flags, "0")
			known = known && (!strings.ContainsAny(flags, "nf") && !perl || perl && !strings.ContainsAny(flags, "nMmIF"))
			if strings.HasSuffix(a, "e") || strings.HasSuffix(a, "f") {
				if i++; i < len(inv.Args) {
					scripts, known = append(scripts, inv.Args[i].Text), known && !inv.Args[i].Dynamic
				}
			}
		default:
			files = append(files, inv.Args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 { // the first operand is the script
		scripts, known = []string{files[0].Text}, known && !files[0].Dynamic && !perl
		files = files[1:]
	}
	if len(files) > 0 && files[0].Text == "" { // -i '' of BSD
		files = files[1:]
	}
	edits, ok := parseEdits(strings.Join(scripts, "\n"), extended, perl)
	if !known || !ok {
		return files, nil
	}
	return files, func(text string) string { return applyEdits(edits, text, whole) }
}

// lineEdit is one command of a script: it deletes the lines of its address, or substitutes in them.
type lineEdit struct {
	from, to lineAddress
	not      bool
	deletes  bool
	pattern  *regexp.Regexp
	with     string // as regexp.Expand wants it
	all      bool

	within bool // of a range, while lines are read
}

// lineAddress is a line's number, the last line, or a pattern; the zero lineAddress is every line.
type lineAddress struct {
	number  int
	last    bool
	pattern *regexp.Regexp
}

func (a lineAddress) isSet() bool { return a.number > 0 || a.last || a.pattern != nil }

func (a lineAddress) matches(line string, number int, last bool) bool {
	return a.number == number && number > 0 || a.last && last || a.pattern != nil && a.pattern.MatchString(line)
}

func (e *lineEdit) takes(line string, number int, last bool) bool {
	switch {
	case !e.from.isSet():
		return !e.not
	case !e.to.isSet():
		return e.from.matches(line, number, last) != e.not
	case e.within:
		e.within = !e.to.matches(line, number, last) && (e.to.number == 0 || number < e.to.number)
		return !e.not
	case e.from.matches(line, number, last):
		e.within = e.to.number == 0 || e.to.number > number
		return !e.not
	}
	return e.not
}

func applyEdits(edits []*lineEdit, text string, whole bool) string {
	lines := []string{text}
	if !whole {
		lines = strings.SplitAfter(text, "\n")
	}
	var out strings.Builder
next:
	for i, line := range lines {
		if line == "" {
			continue
		}
		body, end := line, ""
		if !whole {
			body = strings.TrimSuffix(line, "\n")
			end = line[len(body):]
		}
		last := i == len(lines)-1 || i == len(lines)-2 && lines[i+1] == ""
		for _, e := range edits {
			switch {
			case !e.takes(body, i+1, last):
			case e.deletes:
				continue next
			default:
				body = e.substitute(body)
			}
		}
		out.WriteString(body + end)
	}
	return out.String()
}

func (e *lineEdit) substitute(line string) string {
	if e.all {
		return e.pattern.ReplaceAllString(line, e.with)
	}
	m := e.pattern.FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	return line[:m[0]] + string(e.pattern.ExpandString(nil, e.with, line, m)) + line[m[1]:]
}

// maxEdits bounds the commands of a script.
const maxEdits = 100

// editReader reads a script of sed, or one of perl that is a list of substitutions.
type editReader struct {
	rest           string
	extended, perl bool
}

func parseEdits(script string, extended, perl bool) (edits []*lineEdit, ok bool) {
	r := editReader{script, extended, perl}
	for {
		if r.rest = strings.TrimLeft(r.rest, " \t\r\n;"); r.rest == "" {
			return edits, true
		}
		e, ok := r.command()
		if !ok || len(edits) == maxEdits {
			return nil, false
		}
		edits = append(edits, e)
	}
}

func (r *editReader) command() (*lineEdit, bool) {
	e, ok := &lineEdit{}, true
	if e.from, ok = r.address(); !ok {
		return nil, false
	}
	if r.take(",") {
		if e.to, ok = r.address(); !ok || !e.to.isSet() {
			return nil, false
		}
	}
	e.not = r.take("!")
	switch {
	case !r.perl && r.take("d"):
		e.deletes = true
	case r.take("s"):
		if !r.substitution(e) {
			return nil, false
		}
	default:
		return nil, false
	}
	return e, r.rest == "" || strings.ContainsRune(" \t\r\n;", rune(r.rest[0]))
}

func (r *editReader) take(what string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(r.rest, " \t"), what)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *editReader) address() (a lineAddress, ok bool) {
	if r.perl || r.rest == "" {
		return a, true
	}
	switch b := r.rest[0]; {
	case b >= '0' && b <= '9':
		n := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789"))
		number, err := strconv.Atoi(r.rest[:n])
		r.rest = r.rest[n:]
		return lineAddress{number: number}, err == nil && number > 0 && !strings.HasPrefix(r.rest, "~")
	case b == '$':
		r.rest = r.rest[1:]
		return lineAddress{last: true}, true
	case b == '/' || b == '\\' && len(r.rest) > 1:
		r.rest = strings.TrimPrefix(r.rest, `\`)
		pattern, ok := r.delimited(r.rest[0], 1)
		if !ok {
			return a, false
		}
		fold := r.rest != "" && r.rest[0] == 'I'
		if fold {
			r.rest = r.rest[1:]
		}
		a.pattern, ok = r.compile(pattern, fold)
		return a, ok
	}
	return a, true
}

// delimited reads up to the next delimiter that no backslash is before, from behind skip bytes.
func (r *editReader) delimited(delimiter byte, skip int) (text string, ok bool) {
	for i := skip; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '\\':
			i++
		case delimiter:
			text, r.rest = r.rest[skip:i], r.rest[i+1:]
			if delimiter != '|' || !r.extended { // there \| is a character, and not the end
				text = strings.ReplaceAll(text, `\`+string(delimiter), string(delimiter))
			}
			return text, true
		}
	}
	return "", false
}

func (r *editReader) substitution(e *lineEdit) (ok bool) {
	if r.rest == "" || strings.ContainsRune("\\\n {[(<", rune(r.rest[0])) {
		return false
	}
	delimiter := r.rest[0]
	pattern, ok := r.delimited(delimiter, 1)
	if !ok {
		return false
	}
	with, ok := r.delimited(delimiter, 0)
	if !ok {
		return false
	}
	fold := false
	for r.rest != "" && strings.ContainsRune("giI", rune(r.rest[0])) {
		e.all, fold = e.all || r.rest[0] == 'g', fold || r.rest[0] != 'g'
		r.rest = r.rest[1:]
	}
	if e.pattern, ok = r.compile(pattern, fold); !ok {
		return false
	}
	e.with, ok = r.replacement(with)
	return ok
}

// compile reads a pattern in the language of sed or perl.
func (r *editReader) compile(pattern string, fold bool) (*regexp.Regexp, bool) {
	if pattern == "" { // the last one again
		return nil, false
	}
	if !r.extended {
		pattern = extendedPattern(pattern)
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, false
	}
	if !r.perl {
		re.Longest()
	}
	return re, true
}

// extendedPattern writes a basic regular expression as an extended one: with the meaning of a backslash before
// a bracket, a brace and the like turned round.
func extendedPattern(basic string) string {
	var b strings.Builder
	for i := 0; i < len(basic); i++ {
		switch c := basic[i]; {
		case c == '\\' && i+1 < len(basic):
			if i++; strings.IndexByte("(){}|+?", basic[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(basic[i])
		case c == '*' && i == 0, strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteString(`\` + string(c))
		case c == '[':
			end := strings.IndexByte(basic[min(i+2, len(basic)):], ']')
			if end < 0 {
				return basic
			}
			end += i + 3
			b.WriteString(strings.ReplaceAll(basic[i:end], `\`, `\\`))
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// replacement writes what comes in a match's place as regexp.Expand reads it.
func (r *editReader) replacement(with string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		switch c := with[i]; {
		case c == '\\' && i+1 < len(with):
			switch i++; {
			case with[i] >= '1' && with[i] <= '9':
				b.WriteString("${" + string(with[i]) + "}")
			case with[i] == 'n':
				b.WriteByte('\n')
			case with[i] == 't':
				b.WriteByte('\t')
			case with[i] >= 'a' && with[i] <= 'z' || with[i] >= 'A' && with[i] <= 'Z':
				return "", false
			case with[i] == '$':
				b.WriteString("$$")
			default:
				b.WriteByte(with[i])
			}
		case c == '&' && !r.perl:
			b.WriteString("${0}")
		case c == '$' && r.perl:
			if i++; i == len(with) || with[i] < '1' || with[i] > '9' {
				return "", false
			}
			b.WriteString("${" + string(with[i]) + "}")
		case c == '@' && r.perl:
			return "", false
		case c == '$':
			b.WriteString("$$")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
