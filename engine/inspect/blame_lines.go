package inspect

import (
	"sort"
	"sync"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// weave puts all versions together and asks each line where it came from.
func (b *blaming) weave(chain []nameSpan, newest *manifest.Entry) (*Blamed, error) {
	type origin struct {
		step *attribution.Step
		path string
	}
	var origins []origin
	var entries []*manifest.Entry
	add := func(e *manifest.Entry, step *attribution.Step, path string) {
		origins, entries = append(origins, origin{step, path}), append(entries, e)
	}
	for i, n := range chain {
		for k := range n.steps {
			s := &n.steps[k]
			if len(origins) == 0 {
				add(s.From.Entry, nil, n.path)
			}
			if i > 0 && k == 0 && s.To.Entry == nil {
				continue
			}
			add(s.To.Entry, s, n.path)
		}
	}
	if len(origins) == 0 {
		add(newest, nil, b.o.Path)
	}
	reverts, _, err := work.ReadReverts(b.ctx, b.p)
	if err != nil {
		return nil, err
	}
	links := make([]work.Link, len(origins))
	for i, o := range origins {
		links[i] = work.Link{Entry: entries[i], Step: o.step, Path: o.path}
	}
	var f *weave.File
	err = b.read(entries, func(v weave.Version) {
		v.Taken, v.Back = reverts.TakenBy(links, v.Step), work.StateOf(links, v.Step)
		if f == nil {
			v.Step = weave.Oldest
			f = weave.NewFile(v)
		} else {
			f.Add(v)
		}
	})
	if err != nil {
		return nil, err
	}
	w, base := f.Weave()
	if w == nil {
		return nil, &NotBlamedError{Path: b.o.Path, Reason: BlameBinary}
	}
	out := &Blamed{Path: b.o.Path, Lines: w.Newest()}
	gone := map[int]bool{} // by version: its step is behind what was forgotten
	births := w.Birth(work.WrittenAgain(links))
	for i := 0; i < len(births); {
		end := i + 1
		for end < len(births) && births[end] == births[i] {
			end++
		}
		at := births[i]
		if at == weave.Oldest {
			at = base
		}
		r := BlameRun{Start: i, Count: end - i, Path: origins[at].path}
		if s := origins[at].step; s != nil && !s.Found() {
			forgotten, asked := gone[at]
			if !asked {
				if forgotten, err = b.forgotten(s); err != nil {
					return nil, err
				}
				gone[at] = forgotten
			}
			if r.Forgotten = forgotten; !forgotten {
				r.Step = s
			}
		}
		if s := origins[at].step; s != nil {
			r.Seen = &project.Listed{}
			r.Seen.Seq = s.To.Seq
		}
		out.Runs = append(out.Runs, r)
		i = end
	}
	return out, b.see(out)
}

// before is how many checkpoints before the first that saw a line are looked at for the one of its turn.
const before = 256

// lineTurn is a prompt and what its agent did.
type lineTurn struct{ session, promptID string }

// turnOf is the turn that brought a run of lines; ok: somebody knows.
func (r *BlameRun) turnOf() (t lineTurn, ok bool) {
	if r.Step == nil || r.Step.By == nil || r.Step.By.Session == "" || r.Step.By.Operation != 0 {
		return lineTurn{}, false
	}
	return lineTurn{r.Step.By.Session, r.Step.By.PromptID}, true
}

// see finds the checkpoints that the lines are seen in first, and one of each line's turn, in one pass.
func (b *blaming) see(out *Blamed) error {
	return b.p.Query(b.ctx, func(db *manifest.DB) error {
		turns := map[lineTurn]*project.Listed{}
		least := uint64(attribution.ThenNow)
		for i := range out.Runs {
			r := &out.Runs[i]
			if r.Seen != nil {
				least = min(least, r.Seen.Seq)
			}
			if t, ok := r.turnOf(); ok && t.promptID != "" {
				turns[t] = nil
			}
		}
		missing, earlier := len(turns), 0
		var later []manifest.Checkpoint // newest first, of those that are asked for
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			if c.Seq < least {
				if missing == 0 || earlier == before {
					break
				}
				earlier++
			} else {
				later = append(later, c)
			}
			t := lineTurn{c.Session, c.PromptID}
			if at, ok := turns[t]; ok && at == nil && c.Kind != manifest.Safety {
				turns[t] = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
				missing--
			}
		}
		known := map[uint64]*project.Listed{attribution.ThenNow: nil}
		for i := range out.Runs {
			r := &out.Runs[i]
			if r.Seen != nil {
				seq := r.Seen.Seq
				if _, ok := known[seq]; !ok {
					known[seq] = nil
					if n := sort.Search(len(later), func(i int) bool { return later[i].Seq < seq }); n > 0 {
						known[seq] = &project.Listed{Checkpoint: later[n-1], N: db.Position(later[n-1].Seq)}
					}
				}
				r.Seen = known[seq]
			}
			if t, ok := r.turnOf(); ok {
				if r.Turn = turns[t]; r.Seen != nil && r.Seen.Session == t.session && r.Seen.PromptID == t.promptID && r.Seen.Kind != manifest.Safety {
					r.Turn = r.Seen
				}
			}
		}
		return nil
	})
}

// read reads a path's versions in their order and calls add with each, while the next is read. What add gets is not to
// be kept.
func (b *blaming) read(entries []*manifest.Entry, add func(weave.Version)) error {
	type read struct {
		version weave.Version
		err     error
	}
	found, stop := make(chan read), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		texts := b.versions.Texts(1) // one is looked at, one waits
		for i, e := range entries {
			r := read{version: weave.Version{Step: i, Entry: e, Text: e == nil}}
			if e != nil && manifest.HasContent(e) && e.Kind != manifest.Symlink && e.Size <= weave.MaxText {
				if r.err = b.ctx.Err(); r.err == nil {
					r.version.Content, r.version.Text, r.err = texts.Text(e, weave.IsText)
				}
			}
			select {
			case found <- r:
			case <-stop:
				return
			}
		}
	})
	defer reader.Wait()
	defer close(stop)
	for range entries {
		r := <-found
		if r.err != nil {
			return r.err
		}
		add(r.version)
	}
	return nil
}

// forgotten reports whether a step is the first look behind what was forgotten of its path: it shows no session's work.
func (b *blaming) forgotten(s *attribution.Step) (bool, error) {
	if s.From.Entry != nil || s.Class == attribution.Declared || s.Class == attribution.Operation {
		return false, nil // it is known what was there
	}
	before := b.previous(s.To.Seq)
	if before == 0 {
		return false, nil
	}
	is, err := ForgottenBefore(b.ctx, b.p, before)
	return is != nil && is(s.Path), err
}
