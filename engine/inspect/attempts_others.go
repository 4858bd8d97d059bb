package inspect

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Stretch is the part of the log in which a session made an attempt.
type Stretch struct {
	Session string
	From    uint64               // sequence number of the checkpoint that it began at
	To      *manifest.Checkpoint // that it ended with; nil: the working tree
}

// Others are the paths that others changed in a stretch: other sessions, or the person.
type Others struct {
	Alone map[string]bool // its own session, one that came from it, or that it came from, did not change them
	Also  map[string]bool // it did, too
	Own   map[string]bool // it did, with others or without
}

// OthersIn says of each stretch what others changed in it; nothing where that is not known.
func OthersIn(ctx context.Context, p *project.Project, stretches ...Stretch) ([]Others, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := make([]Others, len(stretches))
	var o attribution.Options
	for i, s := range stretches {
		if o.From == 0 || s.From < o.From {
			o.From = stretches[i].From
		}
		if s.To == nil && o.Now == nil {
			now, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
			if err != nil {
				return nil, err
			}
			defer now.Discard()
			newest, err := p.NewestCheckpoint()
			if err == nil {
				o.Now, err = presentOf(p, now, newest)
			}
			if err != nil {
				return nil, p.Classify(err)
			}
		}
	}
	family, err := families(ctx, p)
	if err != nil {
		return nil, err
	}
	who, err := attribution.New(ctx, p, o)
	if err != nil {
		return nil, p.Classify(err)
	}
	for i, s := range stretches {
		to := uint64(attribution.ThenNow)
		if s.To != nil {
			to = s.To.Seq
		}
		steps, err := who.Between(s.From, to)
		if project.IsDamage(p.Classify(err)) {
			continue // verify tells of that
		} else if err != nil {
			return nil, p.Classify(err)
		}
		out[i] = Others{Alone: map[string]bool{}, Also: map[string]bool{}, Own: map[string]bool{}}
		for path, of := range steps {
			own, others := false, false
			for k := range of {
				if of[k].Class == attribution.Operation {
					continue
				}
				mine := false
				for _, w := range of[k].Works() {
					mine = mine || w.Session != "" && family(w.Session) == family(s.Session)
				}
				own, others = own || mine, others || !mine
			}
			if own {
				out[i].Own[path] = true
			}
			switch {
			case others && own:
				out[i].Also[path] = true
			case others:
				out[i].Alone[path] = true
			}
		}
	}
	return out, nil
}

// Apart are two states in different attempts at one prompt.
type Apart struct {
	A, B   int             // the attempts
	Others map[string]bool // paths that others changed in one of them, and the sessions of neither
}

// ApartOf says which attempts two states are in; nil where they are not in different attempts of one prompt. A state that is nil is
// the working tree.
func ApartOf(ctx context.Context, p *project.Project, x, y *manifest.Checkpoint) (*Apart, error) {
	b, err := attempts.BaseOf(ctx, p, x, y)
	if err != nil || b == nil || b.Fork == nil {
		return nil, err
	}
	stretch := func(n int, to *manifest.Checkpoint) Stretch {
		began := &b.Fork.Attempts[n-1].Prompt
		return Stretch{Session: began.Session, From: began.Seq, To: to}
	}
	in, err := OthersIn(ctx, p, stretch(b.A, x), stretch(b.B, y))
	if err != nil {
		return nil, err
	}
	a := &Apart{A: b.A, B: b.B, Others: map[string]bool{}}
	for _, o := range in {
		for path := range o.Alone {
			if !in[0].Own[path] && !in[1].Own[path] {
				a.Others[path] = true
			}
		}
	}
	return a, nil
}

// Sort puts the paths that only others changed last, and says how many they are. a may be nil.
func (a *Apart) Sort(files []FileDiff) (others int) {
	if a == nil {
		return 0
	}
	of := func(f *FileDiff) int {
		if a.Others[f.Path] {
			return 1
		}
		return 0
	}
	for i := range files {
		others += of(&files[i])
	}
	slices.SortStableFunc(files, func(f, g FileDiff) int { return of(&f) - of(&g) })
	return others
}

// families gives sessions that came from one another the same name.
func families(ctx context.Context, p *project.Project) (func(session string) string, error) {
	parents := map[string]string{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for s, err := range db.Sessions() {
			if err != nil {
				return err
			}
			if parent := s.Continues(); parent != "" {
				parents[s.ID] = parent
			}
		}
		return nil
	})
	return func(id string) string {
		for n := 0; parents[id] != "" && n < 1000; n++ {
			id = parents[id]
		}
		return id
	}, err
}
