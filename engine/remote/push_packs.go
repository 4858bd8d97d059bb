package remote

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
)

// errCondemned says that packs that a push relied on were removed from the remote, or are about to be.
var errCondemned = errors.New("the remote does not keep what was sent before")

// arePacks asks whether packs are there, and stay. The error is errCondemned where that is not so.
func (u *pushing) arePacks(ctx context.Context, stamps []string) error {
	in := &reader{b: u.b}
	lost, err := condemnedNow(ctx, in, stamps)
	u.done.Requests += in.requests
	if err == nil && len(lost) > 0 {
		err = errCondemned
	}
	return err
}

// checkPacks looks at the packs that an interrupted push has left. Where one does not stay, all go again.
func (u *pushing) checkPacks(ctx context.Context) error {
	if len(u.m.Packs) == 0 {
		return nil
	}
	err := u.arePacks(ctx, u.m.Packs)
	if errors.Is(err, errCondemned) {
		u.m.Packs, u.m.Sent = nil, u.m.Whole
		err = u.write(markName, u.m)
	}
	return err
}

// notePacks adds to the list of the packs that the log names, for a push that asks whether all is there.
func (r *Remote) notePacks(stamps []string) error {
	var all []string
	if err := r.read(packsName, &all); err != nil {
		all = nil // a list that is torn says nothing
	}
	return r.write(packsName, append(all, stamps...))
}

// pack sends objects before the segment whose commits need them. When it is done, they need not go again.
func (u *pushing) pack(ctx context.Context, bundle *cas.Bundle, ids []oid.ID) error {
	// A push that has a full pack is a large one; a smaller one does not look. One that found something lost or damaged sends all itself.
	if !u.looked && !u.done.Lost {
		u.looked = true
		if err := u.rely(ctx); err != nil {
			return err
		}
	}
	sealed, err := u.seal(head{}, bundle)
	if err != nil {
		return err
	}
	s := stampOf(sealed)
	if !u.holds { // gc does not wait for the network
		u.leave()
	}
	if err := u.put(ctx, s.packName(), sealed); err != nil {
		return err
	}
	if err := u.sent.write(ids); err != nil {
		return err
	}
	u.sent.n += len(ids)
	u.m.Sent = u.sent.n
	u.m.Packs = append(u.m.Packs, s.String())
	u.packed = append(u.packed, u.sent.pack(s, ids))
	if err := u.write(markName, u.m); err != nil || u.holds {
		return err
	}
	return u.use(ctx)
}
