package lives

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
)

// verdict is what an answer about one change is worth.
type verdict int

const (
	exact   verdict = iota // the session, or the person
	flagged                // several were named, the right one among them
	during                 // the person's, while a command ran to which it was ascribed, with "or you"
	over                   // the person's, of a file that was then written while the command ran, before anybody looked: the same answer
	formats                // a formatter's, behind the look at its edit, and somebody wrote over it before the next look, or a second passed
	wrong                  // anything else
	verdicts
)

func (v verdict) String() string {
	return [...]string{"exact", "named", "you, during", "you, before", "a formatter's", "wrong"}[v]
}

// tally counts verdicts by the class of the answer; "" is all of them.
type tally struct {
	byClass map[attribution.Class]*[verdicts]int
	calls   [verdicts]int // the same for tool calls instead of sessions, of what agents changed
	unseen  int           // changes that left nothing that any look could find
}

func newTally() *tally { return &tally{byClass: map[attribution.Class]*[verdicts]int{}} }

func (t *tally) add(c attribution.Class, v verdict) {
	for _, key := range []attribution.Class{"", c} {
		if t.byClass[key] == nil {
			t.byClass[key] = new([verdicts]int)
		}
		t.byClass[key][v]++
	}
}

func (t *tally) merge(o *tally) {
	for c, counts := range o.byClass {
		if t.byClass[c] == nil {
			t.byClass[c] = new([verdicts]int)
		}
		for v, n := range counts {
			t.byClass[c][v] += n
		}
	}
	for v, n := range o.calls {
		t.calls[v] += n
	}
	t.unseen += o.unseen
}

// answered is what was said of who brought a line, or took it away.
type answered struct {
	*attribution.Owner
	verdict
}

// attributed asks who made each step of the life, and compares. Its errors are answers that are wrong
// and did not say that they may be.
func (l *life) attributed() (*tally, error) {
	ctx := context.Background()
	p, err := project.Open(ctx, project.OpenOptions{Env: account.Env{Home: l.home, Dir: l.root}, Root: l.root})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	who, err := attribution.New(ctx, p, attribution.Options{})
	if err != nil {
		return nil, err
	}
	t := newTally()
	var bad []string
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		steps, err := who.Steps(path)
		if err != nil {
			return nil, err
		}
		bad = append(bad, l.judgePath(t, path, steps)...)
	}
	if len(bad) > 0 {
		return t, fmt.Errorf("wrong answers: %d\n%s", len(bad), strings.Join(bad, "\n"))
	}
	return t, nil
}

func (l *life) judgePath(t *tally, path string, steps []attribution.Step) (bad []string) {
	all := l.files[path]
	at := 0
	if all[0].by != nil { // it was not there before the life
		all = append([]*version{{}}, all...)
	}
	for i := range steps {
		s := &steps[i]
		if s.From.Seq == 0 && s.From.Entry == nil {
			// The first look of all.
		} else if from := l.find(all, at, &s.From); from >= 0 {
			at = from
		} else {
			bad = append(bad, fmt.Sprintf("%s: a step from what it never was: %+v %+v", path, s.From, s.From.Entry))
			continue
		}
		to := l.find(all, at, &s.To)
		if to < 0 {
			bad = append(bad, fmt.Sprintf("%s: a step to what it never was: %+v %+v", path, s.To, s.To.Entry))
			continue
		}
		for _, ln := range slices.Concat(all[at].lines, all[to].lines) {
			l.looked[ln], l.lookedIn[place{path, ln}] = true, true
		}
		var under []*line // what went before the whole file did, between the same two looks
		for _, v := range all[at+1 : to+1] {
			if v.by == nil {
				continue // the first look
			}
			if !visible(all[at], v, all[to]) {
				t.unseen++
				if v.exists && !all[to].exists {
					under = append(under, v.died...)
				}
				continue
			}
			j := l.judge(s, v, all[at+1:to+1])
			for _, b := range v.born {
				l.births[b] = answered{&s.Owner, j}
			}
			for _, d := range v.died {
				if d.died == v.by { // else it was brought back, and died later
					l.deaths[d] = answered{&s.Owner, j}
				}
			}
			for _, d := range under {
				l.deaths[d] = answered{&s.Owner, max(j, over)}
			}
			t.add(s.Class, j)
			t.calls[l.judgeCall(s, v, j)]++
			if j == wrong {
				bad = append(bad, fmt.Sprintf("%s at %s, %d→%d: of %s, answered %s", path, v.at.UTC().Format("15:04:05.000"), s.From.Seq, s.To.Seq, v.by, said(&s.Owner)))
			}
		}
		at = to
	}
	return bad
}

// find is the version that a look found: the newest that was there by then.
func (l *life) find(all []*version, from int, v *attribution.Version) int {
	found := -1
	for i := from; i < len(all); i++ {
		if found >= 0 && all[i].at.After(v.Time.Add(clockSlack)) {
			break
		}
		if matches(all[i], v) {
			found = i
		}
	}
	return found
}

// clockSlack is a tick of the kernel's clock: a file's time is that of the last one.
const clockSlack = 4 * time.Millisecond

func matches(t *version, v *attribution.Version) bool {
	if v.Entry == nil || !t.exists {
		return v.Entry == nil && !t.exists
	}
	return v.Entry.ID == t.id() && (v.Entry.Mode&0o100 != 0) == t.exec
}

// visible reports whether something of what v did is in the difference of two looks.
func visible(from, v, to *version) bool {
	if from.exists != to.exists {
		return v.exists == to.exists && (len(v.born)+len(v.died) > 0 || v == to)
	}
	for _, b := range v.born {
		if slices.Contains(to.lines, b) {
			return true
		}
	}
	for _, d := range v.died {
		if slices.Contains(from.lines, d) {
			return true
		}
	}
	return v == to // renames, modes
}

// judge is what the answer of a step is worth for one of the changes in it.
func (l *life) judge(s *attribution.Step, v *version, changes []*version) verdict {
	owner := v.by.Session
	named := person
	if s.By != nil && s.Class != attribution.Operation {
		named = l.letter(s.By.Session)
	}
	if s.Class == attribution.Shared {
		if named == owner && s.By != nil || owner == person && (s.AlsoOutside || s.By == nil) {
			return flagged
		}
		for _, w := range s.Also {
			if l.letter(w.Session) == owner {
				return flagged
			}
		}
	} else if named == owner {
		return exact
	}
	if v.by.Formats && l.late(v) && (l.hidden(v, changes) || l.longAfter(v)) {
		return formats
	}
	switch {
	case s.Class == attribution.Declared && owner == person && s.AlsoOutside:
		return during
	case s.Class != attribution.Shell || owner != person || !s.AlsoOutside:
		return wrong
	}
	// The person is named, after the command. It may be said so of what was written while it ran, a second
	// after an edit, and of what lay under that.
	for _, later := range changes[slices.Index(changes, v):] {
		if !l.within(later.at, named) && !(later.by.Shell && later.by.Session == named) {
			continue
		}
		if later == v {
			return during
		}
		return over
	}
	if s.To.Entry == nil && !v.exists && l.later(v.at, s.To.Time, named) {
		return over // of what is gone the directory tells when it changed last
	}
	return wrong
}

// later reports whether a command of a session began between two times.
func (l *life) later(from, to time.Time, session string) bool {
	for _, w := range l.calls {
		if w.by.Shell && w.by.Session == session && w.from.After(from) && w.from.Before(to) {
			return true
		}
	}
	return false
}

// within reports whether a command of a session ran at a time, or an edit of its had ended less than a second before.
func (l *life) within(at time.Time, session string) bool {
	for _, w := range l.calls {
		if w.by.Session != session {
			continue
		}
		if w.by.Shell && w.open(at) || !w.by.Shell && !w.to.IsZero() && at.After(w.to) && at.Before(w.to.Add(time.Second)) {
			return true
		}
	}
	return false
}

// open reports whether a call ran at a time, as the file's own time tells it.
func (w window) open(at time.Time) bool {
	return !w.from.IsZero() && at.After(w.from) && (w.to.IsZero() || at.Before(w.to.Add(clockSlack)))
}

// late reports whether a change came when its call had ended.
func (l *life) late(v *version) bool {
	w := l.calls[v.by.Call]
	return !w.to.IsZero() && v.at.After(w.to)
}

// longAfter reports whether a change came more than a second behind the end of its call: a hook that takes that long
// holds it up.
func (l *life) longAfter(v *version) bool {
	w := l.calls[v.by.Call]
	return !w.told.IsZero() && v.at.After(w.told.Add(time.Second-clockSlack))
}

// hidden reports whether somebody else wrote behind v before anybody looked: then nothing tells when v was.
func (l *life) hidden(v *version, changes []*version) bool {
	for _, later := range changes[slices.Index(changes, v)+1:] {
		if later.by.Session != v.by.Session {
			return true
		}
	}
	return false
}

// judgeCall is judge for the call of what an agent changed, given what the session's verdict is.
func (l *life) judgeCall(s *attribution.Step, v *version, session verdict) verdict {
	if v.by.Session == person || session >= during {
		return session
	}
	if s.By != nil && s.By.Call == v.by.Call && len(s.Also) == 0 {
		return session
	}
	if s.By != nil && s.By.Call == v.by.Call {
		return flagged
	}
	for _, w := range s.Also {
		if w.Call == v.by.Call {
			return flagged
		}
	}
	return wrong
}

// letter is the name of a session in the script.
func (l *life) letter(id string) string {
	for name, known := range l.sessions {
		if known == id {
			return name
		}
	}
	return "?" + id
}

func said(o *attribution.Owner) string {
	if o == nil {
		return "never asked"
	}
	s := string(o.Class)
	if o.By != nil {
		s += fmt.Sprintf(" %s %s %q", o.By.Session, o.By.Call, o.By.Summary)
	}
	for _, w := range o.Also {
		s += fmt.Sprintf(", also %s %s", w.Session, w.Call)
	}
	if o.AlsoOutside {
		s += ", also outside"
	}
	return s
}
