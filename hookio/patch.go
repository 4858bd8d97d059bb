package hookio

import "strings"

// fileChange is what a patch makes of one file.
type fileChange struct {
	file    string
	to      string // its new name, "" where it keeps its own
	gone    bool
	rewrite Rewrite
}

// patch is what a patch's text says.
type patch struct {
	files   []string // that it names
	chars   int      // the longer of what goes and what comes, in characters
	changes []fileChange
}

// wholeFile is the size of what goes with a file that is deleted, in characters: it is not known.
const wholeFile = 1 << 10

// readPatch reads an "*** Begin Patch" text, or a unified diff. Each hunk is a swap: the lines with blanks and minuses
// in front for those with blanks and pluses.
func readPatch(text string) (p patch) {
	plus, minus := 0, 0
	name := func(f string) string {
		if f = strings.TrimRight(f, "\r"); f != "" && f != "/dev/null" && len(p.files) < maxFiles {
			p.files = append(p.files, f)
		}
		return f
	}
	var c *fileChange
	var old, new strings.Builder
	added := false // the file is new: its lines are its content
	blank := 0     // empty lines, of which the last ones are no part of the hunk
	hunk := func() {
		if c == nil || old.Len() == 0 && new.Len() == 0 {
			return
		}
		before, after := old.String(), new.String()
		if old.Reset(); added {
			c.rewrite.content = &after
		} else {
			c.rewrite.close(swap{old: &before, new: &after})
		}
		new.Reset()
	}
	begin := func(file string, isNew bool) {
		hunk()
		added = isNew
		if len(p.changes) < maxFiles {
			p.changes = append(p.changes, fileChange{file: file})
		}
		c = &p.changes[len(p.changes)-1]
	}
	var from string // the old name in a unified diff
	marked := strings.Contains(text, "*** Begin Patch")
	for line := range strings.SplitSeq(text, "\n") {
		if marked {
			if f, ok := strings.CutPrefix(line, "*** Move to: "); ok {
				if f = name(f); c != nil {
					c.to = f
				}
				continue
			}
			if f, ok := cutPrefixes(line, "*** Add File: ", "*** Update File: ", "*** Delete File: "); ok {
				begin(name(f), line[4] == 'A')
				if c.gone = line[4] == 'D'; c.gone {
					minus += wholeFile
				}
				continue
			}
			if strings.HasPrefix(line, "*** ") {
				continue
			}
		} else if f, ok := strings.CutPrefix(line, "--- "); ok {
			hunk()
			c, from = nil, name(diffName(f))
			continue
		} else if f, ok := strings.CutPrefix(line, "+++ "); ok {
			to := name(diffName(f))
			if to == "/dev/null" {
				begin(from, false)
				c.gone = true
			} else {
				begin(to, from == "/dev/null")
			}
			continue
		}
		if line == "" {
			blank++
			continue
		}
		if line[0] == '+' || line[0] == '-' || line[0] == ' ' {
			old.WriteString(strings.Repeat("\n", blank))
			new.WriteString(strings.Repeat("\n", blank))
		}
		blank = 0
		switch {
		case strings.HasPrefix(line, "@@"):
			hunk()
		case strings.HasPrefix(line, "+"):
			plus += len(line) - 1
			new.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			minus += len(line) - 1
			old.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, " "):
			old.WriteString(line[1:] + "\n")
			new.WriteString(line[1:] + "\n")
		}
	}
	hunk()
	p.chars = max(plus, minus)
	return p
}

// cutPrefixes cuts the prefix that s begins with.
func cutPrefixes(s string, prefixes ...string) (rest string, ok bool) {
	for _, p := range prefixes {
		if rest, ok = strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return "", false
}

func diffName(f string) string {
	f, _, _ = strings.Cut(f, "\t")
	return strings.TrimPrefix(strings.TrimPrefix(f, "a/"), "b/")
}
