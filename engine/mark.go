package engine

import (
	"context"

	"rewind/manifest"
)

// Pin keeps a checkpoint from retention, or no longer. Error:
// *NoCheckpointError where it was removed since it was named.
func (p *Project) Pin(ctx context.Context, c manifest.Checkpoint, pinned bool) error {
	return p.mark(ctx, c, func(_ *manifest.DB, now manifest.Checkpoint) (*manifest.Mark, error) {
		if now.Pinned == pinned {
			return nil, nil
		}
		return &manifest.Mark{Pinned: &pinned}, nil
	})
}

// Rename gives a checkpoint a name; "" takes it away. Errors: *BadNameError,
// *NameTakenError, and *NoCheckpointError where it was removed since it was named.
func (p *Project) Rename(ctx context.Context, c manifest.Checkpoint, name string) error {
	if name != "" {
		if err := checkName(name); err != nil {
			return err
		}
	}
	return p.mark(ctx, c, func(db *manifest.DB, now manifest.Checkpoint) (*manifest.Mark, error) {
		if now.Name == name {
			return nil, nil
		}
		if name != "" {
			if err := nameFree(db, name, now.ID); err != nil {
				return nil, err
			}
		}
		return &manifest.Mark{Name: &name}, nil
	})
}

// mark commits the mark that decide makes of a checkpoint as it is now, nil for none.
func (p *Project) mark(ctx context.Context, c manifest.Checkpoint, decide func(*manifest.DB, manifest.Checkpoint) (*manifest.Mark, error)) error {
	if err := p.writing(ctx); err != nil {
		return err
	}
	err := p.transact(ctx, func(db *manifest.DB) ([]manifest.Record, error) {
		now, err := living(db, c.ID)
		if err != nil {
			return nil, err
		}
		m, err := decide(db, now)
		if err != nil || m == nil {
			return nil, err
		}
		m.Checkpoint, m.Time = c.ID, p.env.now().UTC()
		return []manifest.Record{{Mark: m}}, nil
	})
	if err == nil {
		p.finishForgetting(ctx)
	}
	return err
}

// freeName checks that name is a valid name and that no checkpoint has it.
func (p *Project) freeName(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return p.query(ctx, func(db *manifest.DB) error { return nameFree(db, name, manifest.CheckpointID{}) })
}

// nameFree reports (*NameTakenError) that a checkpoint other than self has the name.
func nameFree(db *manifest.DB, name string, self manifest.CheckpointID) error {
	c, ok, err := db.ByName(name)
	if err == nil && ok && c.ID != self {
		return &NameTakenError{Name: name, Checkpoint: c.ID.String()}
	}
	return err
}

// checkName: [A-Za-z0-9][A-Za-z0-9._-]*, and nothing that names a checkpoint in another way.
func checkName(name string) error {
	digits, letters := true, true
	for i := range len(name) {
		b := name[i]
		alnum := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		if !alnum && (i == 0 || b != '.' && b != '_' && b != '-') {
			return &BadNameError{Name: name, Reason: "a name has letters, digits, '.', '_' and '-', and begins with a letter or digit"}
		}
		digits = digits && b >= '0' && b <= '9'
		letters = letters && b >= 'k' && b <= 'z'
	}
	switch {
	case name == "":
		return &BadNameError{Name: name, Reason: "it is empty"}
	case len(name) > 200:
		return &BadNameError{Name: name, Reason: "it is longer than 200 characters"}
	case name == "last" || name == "prev":
		return &BadNameError{Name: name, Reason: "it is a keyword"}
	case digits:
		return &BadNameError{Name: name, Reason: "a number counts checkpoints"}
	case letters:
		return &BadNameError{Name: name, Reason: "letters from k to z alone are an id"}
	}
	return nil
}
