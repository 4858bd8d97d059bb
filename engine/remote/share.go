package remote

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
	"github.com/rewind-cli/rewind/manifest"
)

// ShareOptions are those of Share.
type ShareOptions struct {
	Checkpoint   manifest.Checkpoint // of this store's own log, or of one that was pulled
	Label        string              // what Shares tells of it
	Precious     bool                // precious files go, too
	Conversation bool                // and the conversation up to there
}

// Shared is what Share did.
type Shared struct {
	Remote   *Remote
	ID       string      // 16 hexadecimal digits
	Address  string      // of a remote that has the checkpoint alone, for Clone
	Key      keyring.Key // that opens it, and nothing else
	LeftOut  uint64      // precious files that are not in it
	Talk     bool        // the conversation is in it
	Bytes    int64
	Requests int
}

// ShareError: an address is that of a share, to which nothing is pushed.
type ShareError struct{ URL string }

func (e *ShareError) Error() string { return e.URL + " is one checkpoint that was shared" }

const (
	shares   = "s/"    // below it and the id: a remote that has one checkpoint
	noteName = "share" // the object that has the Note
	maxNote  = 64 << 10
)

// sharing is one Share.
type sharing struct {
	*Remote
	b    bucket.Bucket
	key  keyring.Key
	done *Shared

	first func() error // is called before an object is put
}

// Share puts one checkpoint into the remote, as a remote of its own below s/, sealed for a key of its own: who gets address and key can
// clone it, and read nothing else. The store stays in use until all is sent. After an error what was sent is removed, where that is allowed. Errors: *GoneError, those of package bucket and of the store.
func (r *Remote) Share(ctx context.Context, o ShareOptions) (*Shared, error) {
	whole, err := r.bucket()
	if err != nil {
		return nil, err
	}
	u := &sharing{Remote: r, done: &Shared{Remote: r, Talk: o.Conversation && o.Checkpoint.Transcript != nil, Requests: 1}}
	if _, err := r.described(ctx, whole); err != nil {
		return nil, err
	}
	if u.key, err = keyring.New(); err != nil {
		return nil, err
	}
	of := about{Format: format, ID: account.NewStoreID().String(), Recipient: u.key.Recipient(), Share: true}
	u.done.ID, u.done.Key = of.ID[:parentDigits], u.key
	place := options(r.p.Env)
	place.Project = r.p.Root()
	if u.done.Address, err = bucket.AddressBelow(r.URL, shares+u.done.ID, place); err != nil {
		return nil, err
	}
	u.b = bucket.Below(whole, shares+u.done.ID)
	release, err := r.p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	g, err := u.gather(ctx, o)
	if err != nil {
		return nil, r.p.Classify(err)
	}
	noted := false
	u.first = func() error { // before anything else, so that nothing is there that Shares does not show
		if noted {
			return nil
		}
		noted = true
		if err := r.noteShares(ctx, func(known map[string]string) { known[u.done.ID] = o.Checkpoint.ID.String() }); err != nil {
			return err
		}
		return r.putNote(ctx, whole, u.done.ID, o)
	}
	if err = u.send(ctx, g, of); err != nil {
		if noted {
			rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidying)
			defer cancel()
			_, _ = r.removeShare(rest, whole, u.done.ID) // else Shares shows it
		}
		return nil, r.p.Classify(err)
	}
	u.done.Requests += 2
	return u.done, nil
}

// tidying is how long what a failed Share has sent is being removed.
const tidying = 5 * time.Second

// putNote says in the remote that there is a share.
func (r *Remote) putNote(ctx context.Context, whole bucket.Bucket, id string, o ShareOptions) error {
	machine, _ := os.Hostname()
	data, err := json.Marshal(Note{o.Checkpoint.ID.String(), o.Label, machine, r.p.Env.Time().UTC()})
	if err != nil {
		return err
	}
	sealed, err := r.encrypt(data)
	if err != nil {
		return err
	}
	return whole.Put(ctx, shares+id+"/"+noteName, sealed)
}

// gather finds what is sent: the checkpoint as the first one of a log, and its objects.
func (u *sharing) gather(ctx context.Context, o ShareOptions) (*gathered, error) {
	in, err := u.p.ViewOf(o.Checkpoint.Of)
	if err != nil {
		return nil, err
	}
	c, err := in.Current(ctx, o.Checkpoint)
	if err != nil {
		return nil, err
	}
	records, err := sharedRecords(ctx, in, c, u.done.Talk)
	if err != nil {
		return nil, err
	}
	strip := newStripper(u.p, nil)
	needs := reach.New(reach.Options{Dir: strip.load, Get: u.p.Store.Get, Strict: true})
	g := &gathered{made: strip.made, lacks: map[oid.ID]struct{}{}, checkpoints: 1}
	for i, record := range records {
		if !o.Precious {
			if record, _, err = strip.record(record); err != nil {
				return nil, err
			}
		}
		if record.Checkpoint != nil {
			u.done.LeftOut = c.Files - record.Checkpoint.Files
			record.Checkpoint.Added = record.Checkpoint.Files
		}
		if err := needs.Record(ctx, record); err != nil {
			return nil, err
		}
		g.commits = append(g.commits, cas.Commit{Seq: uint64(i) + 1, Payload: record.Append(nil)})
	}
	for _, id := range needs.Added() {
		g.ids = append(g.ids, id)
		g.lacks[id] = struct{}{}
	}
	return g, nil
}

// sharedRecords are those of the log that whoever clones it gets: the checkpoint, with nothing about those before it, and with its conversation the session.
func sharedRecords(ctx context.Context, p *project.Project, c manifest.Checkpoint, talk bool) (all []manifest.Record, err error) {
	c.Parent, c.Counts, c.Windows, c.Changed, c.Pinned = manifest.CheckpointID{}, manifest.Counts{}, "", "", false
	if c.Kind == manifest.Safety {
		c.Kind = manifest.Manual // it is to be listed
	}
	if !talk {
		c.Kind, c.Transcript = manifest.Manual, nil
		c.Tool, c.Prompt, c.PromptID, c.Session, c.Agent, c.Subagent, c.ToolUseID, c.ToolSummary = "", "", "", "", "", "", "", ""
		return []manifest.Record{{Checkpoint: &c}}, nil
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for s, err := range db.Sessions() {
			if err != nil {
				return err
			}
			if s.ID == c.Session && s.Agent == c.Agent {
				all = append(all, manifest.Record{Session: &s})
			}
		}
		return nil
	})
	return append(all, manifest.Record{Checkpoint: &c}), err
}

// send sends packs, the segment, and last the description, without which there is nothing to clone.
func (u *sharing) send(ctx context.Context, g *gathered, of about) error {
	s := &sent{bases: map[[16]byte]bool{}}
	g.bundle = u.p.Store.NewBundle(s.has)
	var h head
	err := g.objects(ctx, u.p, "share", s, func(ctx context.Context, bundle *cas.Bundle, _ []oid.ID) error {
		name, err := u.seal(head{}, bundle.Bytes(), func(s stamp) string { return s.packName() })
		if err == nil {
			h.Packs = append(h.Packs, strings.TrimPrefix(name.name, packs))
			err = u.put(ctx, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range g.commits {
		g.bundle.Commit(c)
	}
	bundle := g.bundle.Bytes()
	h.Machine, _ = os.Hostname()
	h.Root = strconv.Quote(u.p.Root())
	if err := h.sign(u.key, ofSegment, bundle); err != nil {
		return err
	}
	segment, err := u.seal(h, bundle, func(s stamp) string {
		return segmentName{writer: newWriterID(), first: 1, last: uint64(len(g.commits)), parent: noParent, stamp: s}.String()
	})
	if err == nil {
		err = u.put(ctx, segment)
	}
	if err != nil {
		return err
	}
	return of.put(ctx, u.b)
}

// named is an object under its name.
type named struct {
	name   string
	sealed []byte
}

func (u *sharing) seal(h head, bundle []byte, name func(stamp) string) (n named, err error) {
	data, err := h.padded(bundle)
	if err == nil {
		n.sealed, err = keyring.Seal(u.key.Recipient(), data)
	}
	n.name = name(stampOf(n.sealed))
	return n, err
}

func (u *sharing) put(ctx context.Context, n named) error {
	if err := u.first(); err != nil {
		return err
	}
	u.done.Requests++
	u.done.Bytes += int64(len(n.sealed))
	return u.b.Put(ctx, n.name, n.sealed)
}
