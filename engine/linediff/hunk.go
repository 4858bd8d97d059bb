package linediff

import "strings"

// Hunk are changes that are near each other, and the lines around them: lines A to AEnd of the first text
// and B to BEnd of the second, counted from 0.
type Hunk struct {
	A, AEnd int
	B, BEnd int
	Changes []Change // in order; they share the memory of what Hunks was given
}

// Hunks puts changes together that have no more than twice context unchanged lines between them, and takes up
// to context lines on each side. length is the number of lines of the first text.
func Hunks(changes []Change, context, length int) []Hunk {
	context = max(context, 0)
	var out []Hunk
	for i := 0; i < len(changes); {
		j := i + 1
		for j < len(changes) && changes[j].A-changes[j-1].AEnd <= 2*context {
			j++
		}
		first, last := changes[i], changes[j-1]
		before := min(context, first.A)
		after := min(context, length-last.AEnd)
		out = append(out, Hunk{first.A - before, last.AEnd + after, first.B - before, last.BEnd + after, changes[i:j:j]})
		i = j
	}
	return out
}

// Count gives the lines that changes bring and take away.
func Count(changes []Change) (added, deleted int) {
	for _, c := range changes {
		added += c.BEnd - c.B
		deleted += c.AEnd - c.A
	}
	return added, deleted
}

// Apply gives the text of a with some of the changes to b made, and the others not. The changes are in order,
// and of a comparison of these texts.
func Apply(a, b []string, changes []Change) string {
	var out strings.Builder
	at := 0
	write := func(lines []string) {
		for _, line := range lines {
			out.WriteString(line)
		}
	}
	for _, c := range changes {
		write(a[at:c.A])
		write(b[c.B:c.BEnd])
		at = c.AEnd
	}
	write(a[at:])
	return out.String()
}
