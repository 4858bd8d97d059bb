package lives

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// line is one line in a life: its text is there once.
type line struct {
	text string
	born *work // nil: it was there before the life
	died *work // nil: it lives
}

// version is a file after a change; lines is nil where there is none.
type version struct {
	at     time.Time // just after it was written
	took   time.Duration
	by     *work // nil: before the life
	exists bool
	exec   bool
	lines  []*line
	born   []*line // by this change
	died   []*line
}

func (v *version) text() string {
	var b strings.Builder
	for _, l := range v.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

func (v *version) id() oid.ID { return oid.Sum([]byte(v.text())) }

// truth is all that was there, by path, the oldest first.
type truth struct {
	files map[string][]*version
	count int
}

func (t *truth) now(path string) *version {
	if all := t.files[path]; len(all) > 0 {
		return all[len(all)-1]
	}
	return &version{}
}

// fresh makes a line that was never there.
func (t *truth) fresh(by *work, what string) *line {
	t.count++
	name := "start"
	if by != nil {
		name = by.String()
	}
	return &line{text: fmt.Sprintf("%05d %s %s", t.count, name, what), born: by}
}

func (t *truth) begin(path string) {
	v := &version{exists: true}
	for range startLines {
		v.lines = append(v.lines, t.fresh(nil, path))
	}
	t.files[path] = []*version{v}
}

// put adds a version of a path; what it lacks of the one before has died, unless it moves.
func (t *truth) put(path string, v *version, moves bool) {
	old := t.now(path)
	for _, l := range old.lines {
		if !moves && !slices.Contains(v.lines, l) {
			l.died = v.by
			v.died = append(v.died, l)
		}
	}
	for _, l := range v.lines {
		if l.born == v.by && !slices.Contains(old.lines, l) {
			v.born = append(v.born, l)
		}
	}
	t.files[path] = append(t.files[path], v)
}

// apply makes a change, and tells which paths it touches: none where it means nothing now.
func (t *truth) apply(c change, by *work, random *rand.Rand) []string {
	now := t.now(c.Path)
	next := &version{by: by, exists: true, exec: now.exec, lines: slices.Clone(now.lines)}
	at := min(int(c.At*float64(len(now.lines)+1)), len(now.lines))
	end := min(at+c.N, len(now.lines))
	if !now.exists && c.Do != "create" && c.Do != "append" && c.Do != "insert" {
		return nil
	}
	var added []*line
	for range c.N {
		added = append(added, t.fresh(by, c.Do))
	}
	switch c.Do {
	case "create":
		next.lines = added
	case "insert":
		next.lines = slices.Insert(next.lines, at, added...)
	case "append":
		next.lines = append(next.lines, added...)
	case "replace":
		next.lines = slices.Replace(next.lines, at, end, added...)
	case "delete":
		if at == end {
			return nil
		}
		next.lines = slices.Delete(next.lines, at, end)
	case "remove":
		next = &version{by: by}
	case "chmod":
		next.exec = !next.exec
	case "rename":
		t.put(c.To, next, false)
		t.put(c.Path, &version{by: by}, true)
		return []string{c.Path, c.To}
	}
	t.put(c.Path, next, false)
	return []string{c.Path}
}

// restored takes note of a file that a restore has put back: lines that were there before are the same ones. It is
// nil where the restore left the file alone.
func (t *truth) restored(path, text string, exists, exec bool, by *work) (*version, error) {
	now := t.now(path)
	if now.exists == exists && now.exec == exec && now.text() == text {
		return nil, nil
	}
	if !exists {
		t.put(path, &version{by: by}, false)
		return t.now(path), nil
	}
	all := t.files[path]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].exists && all[i].text() == text {
			next := &version{by: by, exists: true, exec: exec, lines: all[i].lines}
			for _, l := range next.lines {
				l.died = nil
			}
			// It takes back what happened since, who removed a line that was written since among it: that the line is
			// not there is the restore's doing now.
			for _, since := range all[i+1:] {
				for _, l := range since.died {
					if l.died == since.by && !slices.Contains(next.lines, l) && bornIn(all[i+1:], l) {
						l.died = by
						next.died = append(next.died, l)
					}
				}
			}
			t.put(path, next, false)
			return next, nil
		}
	}
	return nil, fmt.Errorf("%s was restored as something that it never was:\n%s", path, text)
}

func bornIn(versions []*version, l *line) bool {
	return slices.ContainsFunc(versions, func(v *version) bool { return slices.Contains(v.born, l) })
}
