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
func readPatch(text string) patch {
	r := patchReader{marked: strings.Contains(text, "*** Begin Patch")}
	for line := range strings.SplitSeq(text, "\n") {
		if !r.head(line) {
			r.line(line)
		}
	}
	r.closeHunk()
	r.chars = max(r.plus, r.minus)
	return r.patch
}

// patchReader is where readPatch is in a patch.
type patchReader struct {
	patch
	marked      bool        // it is an "*** Begin Patch" text
	from        string      // the old name in a unified diff
	change      *fileChange // of the file that the lines are about
	added       bool        // the file is new: its lines are its content
	old, new    strings.Builder
	blank       int // empty lines, of which the last ones are no part of the hunk
	plus, minus int // characters
}

// name notes a file that the patch names.
func (r *patchReader) name(file string) string {
	if file = strings.TrimRight(file, "\r"); file != "" && file != "/dev/null" && len(r.files) < maxFiles {
		r.files = append(r.files, file)
	}
	return file
}

// begin begins with the changes of a file.
func (r *patchReader) begin(file string, added bool) {
	r.closeHunk()
	r.added = added
	if len(r.changes) < maxFiles {
		r.changes = append(r.changes, fileChange{file: file})
	}
	r.change = &r.changes[len(r.changes)-1]
}

// closeHunk makes a swap of the lines since the last one.
func (r *patchReader) closeHunk() {
	if r.change == nil || r.old.Len() == 0 && r.new.Len() == 0 {
		return
	}
	before, after := r.old.String(), r.new.String()
	if r.old.Reset(); r.added {
		r.change.rewrite.content = &after
	} else {
		r.change.rewrite.close(swap{old: &before, new: &after})
	}
	r.new.Reset()
}

// head reads a line that is about a file as a whole; false for any other line.
func (r *patchReader) head(line string) bool {
	if r.marked {
		if f, ok := strings.CutPrefix(line, "*** Move to: "); ok {
			if f = r.name(f); r.change != nil {
				r.change.to = f
			}
			return true
		}
		if f, ok := cutPrefixes(line, "*** Add File: ", "*** Update File: ", "*** Delete File: "); ok {
			r.begin(r.name(f), line[4] == 'A')
			if r.change.gone = line[4] == 'D'; r.change.gone {
				r.minus += wholeFile
			}
			return true
		}
		return strings.HasPrefix(line, "*** ")
	}
	if f, ok := strings.CutPrefix(line, "--- "); ok {
		r.closeHunk()
		r.change, r.from = nil, r.name(diffName(f))
		return true
	}
	f, ok := strings.CutPrefix(line, "+++ ")
	if !ok {
		return false
	}
	if to := r.name(diffName(f)); to == "/dev/null" {
		r.begin(r.from, false)
		r.change.gone = true
	} else {
		r.begin(to, r.from == "/dev/null")
	}
	return true
}

// line reads a line of a hunk.
func (r *patchReader) line(line string) {
	if line == "" {
		r.blank++
		return
	}
	if line[0] == '+' || line[0] == '-' || line[0] == ' ' {
		r.old.WriteString(strings.Repeat("\n", r.blank))
		r.new.WriteString(strings.Repeat("\n", r.blank))
	}
	r.blank = 0
	switch {
	case strings.HasPrefix(line, "@@"):
		r.closeHunk()
	case line[0] == '+':
		r.plus += len(line) - 1
		r.new.WriteString(line[1:] + "\n")
	case line[0] == '-':
		r.minus += len(line) - 1
		r.old.WriteString(line[1:] + "\n")
	case line[0] == ' ':
		r.old.WriteString(line[1:] + "\n")
		r.new.WriteString(line[1:] + "\n")
	}
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
