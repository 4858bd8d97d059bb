package revert

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// A file keeps its history when it is renamed, whoever does it: what the work wrote is taken out where
// the file is now, and a name that the work gave it goes, with what others wrote under that.

// trail is one file through all names that it had.
type trail struct {
	links []work.Link     // oldest first
	at    string          // its name now, or its last one
	now   *manifest.Entry // nil: it is gone
}

// place is a step of a path: the change that one look, of a sequence number, found there.
type place struct {
	path string
	seq  uint64
	gone bool // the path went, or what it held did
}

// trails finds the files that were renamed among those of the work.
type trails struct {
	v      *reverting
	files  map[string]*fileRevert
	others map[string]*fileRevert // that were only asked about
	queue  []*fileRevert
	groups map[group]bool
	came   map[place]place // the new name's step, and the old one's
	went   map[place]place
	anew   map[place]bool // an operation put a file back there, and it came from nowhere
}

// group is what one owner did between two looks at the tree.
type group struct {
	seq uint64
	by  workID
}

type workID struct {
	agent, session, subagent, promptID, prompt string
	operation                                  uint64
}

func idOf(w *attribution.Work) workID {
	return workID{w.Agent, w.Session, w.Subagent, w.PromptID, w.Prompt, w.Operation}
}

// findTrails gives the trails of those files that had several names, and the paths that are in them.
func (v *reverting) findTrails(files []*fileRevert) ([]*trail, map[string]*fileRevert, error) {
	t := &trails{v: v, files: map[string]*fileRevert{}, others: map[string]*fileRevert{}, groups: map[group]bool{}, came: map[place]place{}, went: map[place]place{}, anew: map[place]bool{}}
	for _, f := range v.files {
		t.files[f.path] = f
	}
	t.queue = slices.Clone(files)
	for len(t.queue) > 0 {
		f := t.queue[0]
		t.queue = t.queue[1:]
		for i := range f.steps {
			if err := v.Ctx.Err(); err != nil {
				return nil, nil, err
			}
			if f.mayMove(i) {
				if err := t.look(&f.steps[i]); err != nil {
					return nil, nil, err
				}
			}
			for _, other := range []place{t.came[placeOf(&f.steps[i], false)], t.went[placeOf(&f.steps[i], true)]} {
				if err := t.load(other.path); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	t.settle()
	moved := map[string]*fileRevert{}
	for from, to := range t.went {
		a, b := t.files[from.path], t.files[to.path]
		if a != nil && b != nil {
			moved[a.path], moved[b.path] = a, b
		}
	}
	return t.build(moved), moved, nil
}

func placeOf(s *attribution.Step, gone bool) place { return place{s.Path, s.To.Seq, gone} }

// mayMove reports whether a path's i-th step can be a part of a rename.
func (f *fileRevert) mayMove(i int) bool {
	was, is := f.versions[i], f.versions[i+1]
	if manifest.HasContent(was) != manifest.HasContent(is) {
		return true
	}
	// One file in the place of another, or a link to where it is now.
	return manifest.HasContent(was) && !manifest.SameContent(was, is) &&
		(f.own[i+1] || f.steps[i].Class == attribution.Operation || (was.Kind == manifest.Symlink) != (is.Kind == manifest.Symlink))
}

// load takes a path in that the work may not have touched.
func (t *trails) load(path string) error {
	if path == "" || t.files[path] != nil {
		return nil
	}
	f, err := t.read(path)
	if err != nil || len(f.steps) == 0 {
		return err
	}
	t.files[path] = f
	t.queue = append(t.queue, f)
	return nil
}

// read gives a path's history.
func (t *trails) read(path string) (*fileRevert, error) {
	for _, known := range []map[string]*fileRevert{t.files, t.others} {
		if f := known[path]; f != nil {
			return f, nil
		}
	}
	steps, err := t.v.who.Steps(path)
	if err != nil {
		return nil, err
	}
	f := &fileRevert{path: path}
	if len(steps) > 0 {
		f = t.v.historyOf(path, steps)
	}
	f.beside = true
	t.others[path] = f
	return f, nil
}

// maxLikened bounds the texts of one owner and interval whose similarity is tried. Where there are more, only identical content
// counts as a rename.
const maxLikened = 200

// look finds what the owner of a step renamed in its interval.
func (t *trails) look(s *attribution.Step) error {
	seq := t.v.who.Closing(s.To.Seq)
	key := group{seq, idOf(&worksOf(s)[0])}
	if t.groups[key] {
		return nil
	}
	t.groups[key] = true
	all, err := t.v.who.Changes(seq)
	if err != nil {
		return err
	}
	var own, every []*attribution.Step
	for i := range all {
		from, to := all[i].From.Entry, all[i].To.Entry
		if manifest.HasContent(from) && manifest.HasContent(to) && manifest.SameContent(from, to) {
			continue
		}
		if all[i].Class != attribution.Operation {
			every = append(every, &all[i])
		}
		if slices.ContainsFunc(worksOf(&all[i]), func(w attribution.Work) bool { return idOf(&w) == key.by }) {
			own = append(own, &all[i])
		}
	}
	if err := t.pair(own, true, true); err != nil || s.Class == attribution.Operation || len(every) == len(own) {
		return err
	}
	// What another's edit reports to have made of the old name, or of the new one, a command may have moved.
	if err := t.pair(every, true, false); err != nil {
		return err
	}
	return t.pair(every, false, true)
}

// pair finds the renames among steps of one interval that are in none yet. oldTaken says whether the old name may have
// something else now, newHeld whether there may have been something at the new one.
func (t *trails) pair(steps []*attribution.Step, oldTaken, newHeld bool) error {
	gone, here := map[oid.ID]int{}, map[oid.ID]int{}
	liken, single := len(steps) <= maxLikened, false
	for _, s := range steps {
		if manifest.HasContent(s.From.Entry) {
			gone[s.From.Entry.ID]++
		}
		if manifest.HasContent(s.To.Entry) {
			here[s.To.Entry.ID]++
		}
		single = single || manifest.HasContent(s.From.Entry) != manifest.HasContent(s.To.Entry)
	}
	var went, came []weave.Moved
	var wentAt, cameAt []place
	written, byEdit := map[place]bool{}, map[place]bool{} // by an edit tool: over what was there, and at all
	for _, s := range steps {
		from, to := s.From.Entry, s.To.Entry
		if _, taken := t.went[placeOf(s, true)]; taken {
			from = nil
		}
		if _, taken := t.came[placeOf(s, false)]; taken {
			to = nil
		}
		both := manifest.HasContent(from) && manifest.HasContent(to)
		texts := liken && (!both || single) // not only the same content
		if both && !texts && gone[to.ID] == 0 && here[from.ID] == 0 {
			continue
		}
		if both {
			if alike, err := t.alike(s); err != nil {
				return err
			} else if alike {
				continue // it was edited
			}
		}
		if manifest.HasContent(from) && (!both || oldTaken && (texts || here[from.ID] > 0)) {
			m, err := t.v.moved(s.Path, from, texts)
			if err != nil {
				return err
			}
			went, wentAt = append(went, m), append(wentAt, placeOf(s, true))
			written[placeOf(s, true)] = both && s.Edit
		}
		if manifest.HasContent(to) && (!both || newHeld && (texts || gone[to.ID] > 0)) {
			m, err := t.v.moved(s.Path, to, texts)
			if err != nil {
				return err
			}
			came, cameAt = append(came, m), append(cameAt, placeOf(s, false))
			byEdit[placeOf(s, false)] = s.Edit
		}
	}
	renames, err := t.renames(went, came, cameAt)
	if err != nil {
		return err
	}
	for _, r := range renames {
		from, to := wentAt[r.Went], cameAt[r.Came]
		if _, taken := t.went[from]; taken || t.came[to] != (place{}) || from.path == to.path {
			continue
		}
		if written[from] && !byEdit[to] {
			continue // a command copied it
		}
		t.went[from], t.came[to] = to, from
	}
	return nil
}

// renames are those among what went and what came, but for what an operation put back, of which the texts do not tell.
func (t *trails) renames(went, came []weave.Moved, at []place) ([]weave.Rename, error) {
	known := map[int]bool{}
	for {
		renames := weave.Renames(went, came)
		again := false
		for _, r := range renames {
			if known[r.Came] {
				continue
			}
			f, err := t.read(at[r.Came].path)
			if err != nil {
				return nil, err
			}
			known[r.Came] = true
			if i := f.stepAt(at[r.Came].seq); i >= 0 && f.putBack(i) >= 0 {
				came[r.Came], again = weave.Moved{}, true
			}
		}
		if !again {
			return renames, nil
		}
	}
}

// alike reports whether a step left most of the lines.
func (t *trails) alike(s *attribution.Step) (bool, error) {
	a, err := t.v.moved(s.Path, s.From.Entry, true)
	if err != nil {
		return false, err
	}
	b, err := t.v.moved(s.Path, s.To.Entry, true)
	return len(weave.Renames([]weave.Moved{a}, []weave.Moved{b})) > 0, err
}

// moved is one side of what may be a rename; with text its lines are looked at, too.
func (v *reverting) moved(path string, e *manifest.Entry, text bool) (weave.Moved, error) {
	m := weave.Moved{Path: path, Entry: *e}
	if !text || e.Kind == manifest.Symlink || e.Kind == manifest.Subdir || e.Size > weave.MaxText {
		return m, nil
	}
	lines, ok, err := v.versions.Lines(e, patch.IsText)
	if ok {
		m.Lines = lines
	}
	return m, err
}

// segment is a part of a trail under one name: versions lo to hi of a path, hi not among them.
type segment struct {
	f      *fileRevert
	lo, hi int
	next   *segment // under another name
	later  bool     // it is one
}

// build puts the parts under one name together.
func (t *trails) build(moved map[string]*fileRevert) (found []*trail) {
	begins, endsAt := map[place]*segment{}, map[place]*segment{}
	var all []*segment
	for _, path := range sortedKeys(moved) {
		f := moved[path]
		s, links := &segment{f: f}, f.links()
		all = append(all, s)
		for i := 1; i < len(f.versions); i++ {
			step := &f.steps[i-1]
			_, in := t.came[placeOf(step, false)]
			_, out := t.went[placeOf(step, true)]
			in, out = in && manifest.HasContent(f.versions[i]), out && manifest.HasContent(f.versions[i-1])
			if !in && !out && !t.anew[placeOf(step, false)] && !another(links, i-1) {
				continue
			}
			s.hi = i
			if out {
				endsAt[placeOf(step, true)] = s
			}
			s = &segment{f: f, lo: i}
			all = append(all, s)
			if in {
				begins[placeOf(step, false)] = s
			}
		}
		s.hi = len(f.versions)
	}
	for from, s := range endsAt {
		if n := begins[t.went[from]]; n != nil && n != s {
			s.next, n.later = n, true
		}
	}
	for _, s := range all {
		if !s.later {
			if tr := t.follow(s); tr != nil {
				found = append(found, tr)
			}
		}
	}
	return t.comeBack(found)
}

// follow makes a trail of a part and those after it; nil where there never was anything.
func (t *trails) follow(s *segment) *trail {
	tr := &trail{}
	add := func(f *fileRevert, i int, own bool) {
		l := work.Link{Entry: f.versions[i], Own: own, Path: f.path}
		if i > 0 {
			l.Step = &f.steps[i-1]
		}
		tr.links = append(tr.links, l)
	}
	if s.lo > 0 && s.f.versions[s.lo] != nil { // what was there before went elsewhere
		tr.links = append(tr.links, work.Link{Path: s.f.path})
	}
	add(s.f, s.lo, s.f.own[s.lo])
	if s.lo > 0 && s.f.versions[s.lo] == nil {
		tr.links[0].Step, tr.links[0].Own = nil, false
	}
	for range len(t.files) * 64 {
		for i := s.lo + 1; i < s.hi; i++ {
			add(s.f, i, s.f.own[i])
		}
		tr.at, tr.now = s.f.path, nil
		if s.hi == len(s.f.versions) {
			tr.now = s.f.versions[s.hi-1]
		}
		n := s.next
		if n == nil {
			if s.hi < len(s.f.versions) { // another took its place
				tr.links = append(tr.links, work.Link{Own: s.f.own[s.hi], Step: &s.f.steps[s.hi-1], Path: s.f.path})
			}
			break
		}
		// A rename is two steps; where one of them could be another's, it is not surely the work's.
		own := s.f.own[s.hi] && n.f.own[n.lo]
		if own != s.f.own[s.hi] || own != n.f.own[n.lo] {
			went, came := &s.f.steps[s.hi-1], &n.f.steps[n.lo-1]
			t.v.shareRename(s.f, went, came)
			t.v.shareRename(n.f, came, went)
		}
		add(n.f, n.lo, own)
		s = n
	}
	if !slices.ContainsFunc(tr.links, func(l work.Link) bool { return l.Entry != nil }) {
		return nil
	}
	return tr
}

// stepsOf are the steps of versions.
func stepsOf(links []work.Link) (steps []attribution.Step) {
	for _, l := range links {
		if l.Step != nil {
			steps = append(steps, *l.Step)
		}
	}
	return steps
}

// shareRename tells of a rename that others could have made.
func (v *reverting) shareRename(f *fileRevert, s, other *attribution.Step) {
	if _, some := s.Of(v.work.Has); some {
		f.share(s, v)
		f.share(other, v)
	}
}
