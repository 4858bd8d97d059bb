package engine

import (
	"context"

	"rewind/manifest"
)

// Pin keeps a checkpoint from retention, or no longer.
func (p *Project) Pin(ctx context.Context, c manifest.Checkpoint, pinned bool) error {
	if c.Pinned == pinned {
		return nil
	}
	return p.mark(ctx, manifest.Mark{Checkpoint: c.ID, Pinned: &pinned})
}

// Rename gives a checkpoint a name; "" takes it away. Errors: *BadNameError, *NameTakenError.
func (p *Project) Rename(ctx context.Context, c manifest.Checkpoint, name string) error {
	if c.Name == name {
		return nil
	}
	if name != "" {
		if err := p.freeName(ctx, name, c.ID); err != nil {
			return err
		}
	}
	return p.mark(ctx, manifest.Mark{Checkpoint: c.ID, Name: &name})
}

func (p *Project) mark(ctx context.Context, m manifest.Mark) error {
	if err := p.writing(ctx); err != nil {
		return err
	}
	m.Time = p.env.now().UTC()
	_, err := p.commit(ctx, manifest.Record{Mark: &m})
	return err
}

// freeName checks that name is a valid name and that no checkpoint but self has it.
func (p *Project) freeName(ctx context.Context, name string, self manifest.CheckpointID) error {
	if err := checkName(name); err != nil {
		return err
	}
	return p.query(ctx, func(db *manifest.DB) error {
		c, ok, err := db.ByName(name)
		if err == nil && ok && c.ID != self {
			return &NameTakenError{Name: name, Checkpoint: c.ID.String()}
		}
		return err
	})
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
