package linediff

import "strings"

// Lines cuts a text after each line feed. The last line has none where the text does not end with
// one; an empty text has no lines. The lines share the text's memory.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for text != "" {
		end := strings.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return lines
}

// Options of a comparison.
type Options struct {
	IgnoreSpace bool // lines that differ in white space alone are the same
}

// text is one of two that are compared: a number for each line, the same where lines count as the same.
type text struct {
	names []int32
	lines []string // of the text, or
	named []string // of each number
}

func (t text) line(i int) string {
	if t.lines != nil {
		return t.lines[i]
	}
	return t.named[t.names[i]]
}

// names gives each line of both texts a number below distinct.
func names(a, b []string, o Options) (x, y []int32, distinct int) {
	known := make(map[string]int32, len(a))
	name := func(lines []string) []int32 {
		out := make([]int32, len(lines))
		for i, line := range lines {
			if o.IgnoreSpace {
				line = withoutSpace(line)
			}
			n, ok := known[line]
			if !ok {
				n = int32(len(known))
				known[line] = n
			}
			out[i] = n
		}
		return out
	}
	x, y = name(a), name(b)
	return x, y, len(known)
}

func withoutSpace(line string) string {
	if !strings.ContainsAny(line, space) {
		return line
	}
	out := make([]byte, 0, len(line)) // by bytes: what is no UTF-8 stays apart
	for i := range len(line) {
		if strings.IndexByte(space, line[i]) < 0 {
			out = append(out, line[i])
		}
	}
	return string(out)
}

const space = " \t\r\n\v\f"
