package engine

import (
	"context"
	"fmt"

	"rewind/cas"
	"rewind/manifest"
)

// Repair rebuilds what can be rebuilt: packs that the objects directory has
// lost, from their second names; indexes; the good records of damaged packs;
// objects that are damaged but whose content the working tree still has; the
// database. What is still damaged afterwards is in the result.
func (p *Project) Repair(ctx context.Context) (*Verified, error) {
	if err := p.writing(ctx); err != nil {
		return nil, err
	}
	lock, err := p.lock(ctx, gcLockName)
	if err != nil {
		return nil, err
	}
	defer lock.release()
	var done []string
	say := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
	if err := p.store.Repair(ctx, func(r cas.Repaired) { say("%s", describeFix(r)) }); err != nil {
		return nil, p.classify(err)
	}
	if err := p.recapture(ctx, say); err != nil {
		return nil, err
	}
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	err = manifest.Rebuild(ctx, p.databaseOptions(), logSource{p.store})
	release()
	if err != nil {
		return nil, p.classify(err)
	}
	p.mirrorSettings()
	say("built the database anew from the log")
	v, err := p.Verify(ctx, true)
	if err != nil {
		return nil, err
	}
	v.Repaired = done
	return v, nil
}

// recapture reads the whole working tree again. An object that was lost comes
// back where a file still has its content.
func (p *Project) recapture(ctx context.Context, say func(string, ...any)) error {
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := removeIfThere(p.headFile()); err != nil {
		return err
	}
	c, err := p.capture(ctx, captureOptions{rehash: true})
	if err != nil {
		return err
	}
	if c.tx.StoredBytes() == 0 {
		return c.discard()
	}
	now := p.env.now().UTC()
	record := manifest.Record{Operation: &manifest.Operation{Time: now, Kind: manifest.OpRepair, Before: c.root(), After: c.root()}}
	stored := c.tx.StoredBytes()
	if _, err := c.tx.Commit(ctx, func() ([]manifest.Record, error) { return []manifest.Record{record}, nil }, c.publish); err != nil {
		return err
	}
	say("stored %d bytes of the working tree that the store did not have", stored)
	return nil
}

func describeFix(r cas.Repaired) string {
	text := r.Pack + ": "
	switch r.What {
	case cas.FixReturned:
		text += "came back from its second name"
	case cas.FixSalvaged:
		text += "what is good of it was written anew"
	case cas.FixCut:
		text += "a torn tail was cut off"
	case cas.FixNamed:
		text += "has its second name again"
	default:
		text += "was mended"
	}
	if n := len(r.Lost); n > 0 {
		text += fmt.Sprintf("; %d objects of it cannot be read any more", n)
	}
	return text
}
