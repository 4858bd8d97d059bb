package shell

import (
	"slices"
	"strings"
)

// Bounds of the analysis of a command line. A line beyond them is judged as if
// it were dangerous where that costs nothing (Destructive), and let through
// where it would block (Guard).
const (
	maxShellBytes    = 256 << 10
	maxShellDepth    = 12
	maxShellCommands = 5000
	maxShellWork     = 16 << 20 // bytes looked ahead for the end of something
)

// Word is one word of a command, quotes removed.
type Word struct {
	Text    string // unknown expansions are \x00
	Pattern string // as a glob, "" where nothing in it is one; quoted characters are escaped
	Dynamic bool   // holds something that only a running shell knows
	quoted  bool   // some of it was quoted, so that it is no keyword
}

// redirect is one redirection, its file descriptor left out.
type redirect struct {
	Op     string // < << <<- <<< <> <& > >> >| >& &> &>>
	Target Word
	Body   string // of a here-document
}

// command is one simple command as written: assignments and wrappers included.
type command struct {
	words     []Word
	redirects []redirect
}

// parser is a reader of POSIX sh (and the bash forms that agents use) that
// never fails: what it does not understand it takes for words. It hands each
// command to the walk, in the order of execution.
type parser struct {
	src    string
	pos    int
	resume int // where the text continues after the here-documents of this line
	depth  int
	op     string // that ended the command before, as joins gets it
	*walker
}

func (p *parser) at(i int) byte {
	if p.pos+i < len(p.src) {
		return p.src[p.pos+i]
	}
	return 0
}

func (p *parser) more() bool { return p.pos < len(p.src) && !p.overflow() }

// find returns the place after the next occurrence of what, or -1.
func (p *parser) find(what string) int {
	i := strings.Index(p.src[p.pos:], what)
	if i < 0 {
		p.work += len(p.src) - p.pos
		return -1
	}
	p.work += i
	return p.pos + i + len(what)
}

// list parses commands up to closer, which it consumes; 0 means the end.
func (p *parser) list(closer byte) {
	if p.depth > maxShellDepth {
		p.commands = maxShellCommands + 1
		return
	}
	var c command
	p.piped = nil
	flush := func(newPipeline bool) {
		p.emit(c)
		if c = (command{}); newPipeline {
			p.piped = nil
		}
	}
	for p.more() {
		switch b := p.at(0); b {
		case ' ', '\t', '\r':
			p.pos++
		case '\n':
			p.pos++
			if p.resume > p.pos {
				p.pos = p.resume
			}
			p.resume, p.op = 0, ";"
			flush(true)
		case '#':
			for p.more() && p.at(0) != '\n' {
				p.pos++
			}
		case ';':
			p.pos++
			p.op = ";"
			flush(true)
		case '&':
			if p.at(1) == '>' {
				c.redirects = append(c.redirects, p.redirect())
				continue
			}
			p.pos++
			if p.op = "&&"; p.at(0) == '&' {
				p.pos++
			} else {
				p.doubt()
			}
			flush(true)
		case '|':
			p.pos++
			p.op = "|"
			switch p.at(0) {
			case '|':
				p.pos++
				p.doubt()
				flush(true)
			case '&':
				p.pos++
				flush(false)
			default:
				flush(false)
			}
		case '(':
			p.parenthesis(&c, flush)
		case ')':
			p.pos++
			if flush(closer != ')'); closer == ')' {
				return
			}
		case '<', '>':
			if p.at(1) == '(' { // process substitution
				p.pos += 2
				p.substitution()
				c.words = append(c.words, Word{Text: "\x00", Dynamic: true, quoted: true})
				continue
			}
			c.redirects = append(c.redirects, p.redirect())
		default:
			p.simpleWord(&c)
		}
	}
	p.op = ""
	p.emit(c)
}

func (p *parser) parenthesis(c *command, flush func(bool)) {
	switch {
	case p.at(1) == '(' && len(c.words) == 0:
		p.doubt()
		if end := p.find("))"); end >= 0 { // arithmetic
			p.pos = end
			return
		}
		p.pos += 2
	case len(c.words) == 1 && p.at(1) == ')': // a function's definition
		p.doubt()
		p.pos += 2
		c.words = nil
	default:
		p.doubt()
		p.pos++
		flush(false)
		inner := p.substitution()
		p.piped = append(p.piped, inner...)
	}
}

// substitution parses a nested list up to its parenthesis, as a subshell, and gives the words of its last pipeline.
func (p *parser) substitution() (last []Word) {
	p.enter()
	p.depth++
	p.list(')')
	p.depth--
	last = p.piped
	p.leave()
	return last
}

func (p *parser) simpleWord(c *command) {
	start := p.pos
	w := p.word()
	if p.pos == start { // cannot be; but the loop must end
		p.pos++
		return
	}
	if w.Text == "" && !w.quoted { // only a line's continuation
		return
	}
	next := p.at(0)
	if (next == '<' || next == '>') && !w.quoted && AllDigits(w.Text) {
		return // a file descriptor
	}
	if w.Text == "[[" && !w.quoted && isBare(c.words) {
		p.doubt()
		if end := p.find("]]"); end >= 0 { // there < and > compare
			p.pos = end
			return
		}
	}
	c.words = append(c.words, w)
}

func AllDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// emit strips keywords and hands the command over.
func (p *parser) emit(c command) {
	for len(c.words) > 0 && isKeyword(c.words[0]) {
		if c.words[0].Text != "time" {
			p.doubt()
		}
		c.words = c.words[1:]
	}
	if len(c.words) == 0 && len(c.redirects) == 0 {
		return
	}
	if p.commands++; !p.overflow() {
		p.command(c)
		if p.joins != nil {
			p.joins(p.op)
		}
	}
}

func isKeyword(w Word) bool {
	if w.quoted {
		return false
	}
	switch w.Text {
	case "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "!", "{", "}", "time", "coproc":
		return true
	}
	return false
}

// isBare reports whether the words so far are only keywords.
func isBare(words []Word) bool {
	return !slices.ContainsFunc(words, func(w Word) bool { return !isKeyword(w) })
}

func (p *parser) redirect() redirect {
	var r redirect
	for _, op := range []string{"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">"} {
		if strings.HasPrefix(p.src[p.pos:], op) {
			r.Op = op
			break
		}
	}
	p.pos += len(r.Op)
	for p.at(0) == ' ' || p.at(0) == '\t' {
		p.pos++
	}
	r.Target = p.word()
	if r.Op == "<<" || r.Op == "<<-" {
		r.Body = p.hereDocument(r.Target, r.Op == "<<-")
	}
	return r
}

// hereDocument reads the body from after this line.
func (p *parser) hereDocument(delimiter Word, tabs bool) string {
	start := p.resume
	if start == 0 {
		eol := strings.IndexByte(p.src[p.pos:], '\n')
		if eol < 0 {
			return ""
		}
		start = p.pos + eol + 1
	}
	for at := start; ; {
		if p.overflow() {
			return ""
		}
		line, _, found := strings.Cut(p.src[at:], "\n")
		end := at + len(line)
		p.work += len(line) + 1
		if tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimRight(line, "\r") == delimiter.Text || !found {
			p.resume = min(end+1, len(p.src))
			body := p.src[start:at]
			if !found && line != delimiter.Text {
				body = p.src[start:]
			}
			if !delimiter.quoted {
				p.substitutionsIn(body)
			}
			return body
		}
		at = end + 1
	}
}

// substitutionsIn visits the commands inside a text that the shell expands.
func (p *parser) substitutionsIn(text string) {
	if !strings.ContainsAny(text, "$`") || p.depth > maxShellDepth {
		return
	}
	q := &parser{src: text, depth: p.depth + 1, walker: p.walker}
	for q.more() {
		switch q.at(0) {
		case '\\':
			q.pos += 2
		case '$', '`':
			q.expansion(&wordBuilder{}, true)
		default:
			q.pos++
		}
	}
}
