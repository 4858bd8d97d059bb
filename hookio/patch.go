package hookio

import "strings"

// fileChange is what a patch makes of one file.
type fileChange struct {
	file    string
	to      string // its new name, "" where it keeps its own
	gone    bool
	rewrite Rewrite
}

// fileChanges reads an "*** Begin Patch" text, or a unified diff. Each hunk is a swap: the lines with blanks and minuses
// in front for those with blanks and pluses.
func fileChanges(text string) (changes []fileChange) {
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
		if len(changes) < maxFiles {
			changes = append(changes, fileChange{file: strings.TrimRight(file, "\r")})
		}
		c = &changes[len(changes)-1]
	}
	var from string // the old name in a unified diff
	marked := strings.Contains(text, "*** Begin Patch")
	for line := range strings.SplitSeq(text, "\n") {
		if marked {
			if f, ok := strings.CutPrefix(line, "*** Move to: "); ok && c != nil {
				c.to = strings.TrimRight(f, "\r")
				continue
			}
			if f, ok := cutPrefixes(line, "*** Add File: ", "*** Update File: ", "*** Delete File: "); ok {
				begin(f, line[4] == 'A')
				c.gone = line[4] == 'D'
				continue
			}
			if strings.HasPrefix(line, "*** ") {
				continue
			}
		} else if f, ok := strings.CutPrefix(line, "--- "); ok {
			hunk()
			c, from = nil, diffName(f)
			continue
		} else if f, ok := strings.CutPrefix(line, "+++ "); ok {
			to := diffName(f)
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
			new.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			old.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, " "):
			old.WriteString(line[1:] + "\n")
			new.WriteString(line[1:] + "\n")
		}
	}
	hunk()
	return changes
}

func diffName(f string) string {
	f, _, _ = strings.Cut(f, "\t")
	return strings.TrimPrefix(strings.TrimPrefix(f, "a/"), "b/")
}
