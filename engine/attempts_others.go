package engine

import (
	"context"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// Stretch is the part of the log in which a session made an attempt.
type Stretch struct {
	Session string
	From    uint64               // sequence number of the checkpoint that it began at
	To      *manifest.Checkpoint // that it ended with; nil: the working tree
}

// OthersIn says of each stretch which paths others changed in it: other sessions or the person, and its own session (or one that
// came from it, or that it came from) did not.
func OthersIn(ctx context.Context, p *project.Project, stretches ...Stretch) ([]map[string]bool, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := make([]map[string]bool, len(stretches))
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
			o.Now = &attribution.Present{Time: p.Env.Time(), Root: now.Root(), Load: now.Tx.Load, Windows: window.Pending(p)}
			newest, err := p.NewestCheckpoint()
			if err == nil && newest != nil {
				o.Now.At, err = now.Written(newest.Root)
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
		out[i] = map[string]bool{}
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
			if others && !own {
				out[i][path] = true
			}
		}
	}
	return out, nil
}

// families gives sessions that came from one another the same name.
func families(ctx context.Context, p *project.Project) (func(session string) string, error) {
	parents := map[string]string{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for s, err := range db.Sessions() {
			if err != nil {
				return err
			}
			if s.Parent != "" && s.Parent != s.ID {
				parents[s.ID] = s.Parent
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
