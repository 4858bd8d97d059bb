package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
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

// Share is a checkpoint that was shared.
type Share struct {
	ID      string
	Whole   bool // it can be cloned
	Objects int
	Bytes   int64
	// What whoever shared it noted. All are empty where this account cannot read that.
	Note
}

// Note is what the remote's own key opens of a share.
type Note struct {
	Checkpoint string    `json:"checkpoint"` // its id
	Label      string    `json:"label"`
	Machine    string    `json:"machine"` // where it was shared
	Time       time.Time `json:"time"`
}

// NoShareError: the remote has no share of such an id, or several.
type NoShareError struct {
	ID   string
	Have []string
}

func (e *NoShareError) Error() string {
	return fmt.Sprintf("the remote has no share %q, or several that begin so", e.ID)
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
	for _, id := range needs.Added {
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
	if err := h.sign(u.key, bundle); err != nil {
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
	data, err := h.object(bundle)
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

// Shares lists what was shared, the newest first. Errors: those of package bucket.
func (r *Remote) Shares(ctx context.Context) ([]Share, error) {
	whole, err := r.bucket()
	if err != nil {
		return nil, err
	}
	ids, err := shareIDs(ctx, whole)
	if err != nil {
		return nil, err
	}
	keys, _ := r.known() // without them the notes are not read
	all := make([]Share, 0, len(ids))
	for _, id := range ids {
		s := Share{ID: id}
		objects, err := bucket.Below(whole, shares+id).List(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			s.Whole = s.Whole || o.Name == aboutName
			s.Objects++
			s.Bytes += o.Size
		}
		if sealed, err := whole.Get(ctx, shares+id+"/"+noteName, maxNote); err == nil && len(keys.Chain.Keys) > 0 {
			if data, _, err := keys.Open(sealed); err == nil {
				_ = json.Unmarshal(data, &s.Note) // anybody can have put something else there
			}
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Share) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// shareIDs are the ids that a listing shows.
func shareIDs(ctx context.Context, whole bucket.Bucket) (ids []string, err error) {
	listing, err := whole.List(ctx, shares)
	for _, o := range listing {
		id, _, _ := strings.Cut(strings.TrimPrefix(o.Name, shares), "/")
		if writerID(id).valid() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// RemoveShare removes a share, which the beginning of its id names, and says what was there. Who has cloned it keeps the clone. Errors: *NoShareError, those of package bucket.
func (r *Remote) RemoveShare(ctx context.Context, id string) (removed Share, err error) {
	whole, err := r.bucket()
	if err != nil {
		return removed, err
	}
	ids, err := shareIDs(ctx, whole)
	if err != nil {
		return removed, err
	}
	meant := slices.DeleteFunc(slices.Clone(ids), func(s string) bool { return id == "" || !strings.HasPrefix(s, id) })
	if len(meant) != 1 {
		return removed, &NoShareError{id, ids}
	}
	return r.removeShare(ctx, whole, meant[0])
}

// removeShare removes the description first, so that nobody clones what is only half there, and the note last.
func (r *Remote) removeShare(ctx context.Context, whole bucket.Bucket, id string) (s Share, err error) {
	s.ID = id
	b := bucket.Below(whole, shares+id)
	if err := b.Delete(ctx, aboutName); err != nil {
		return s, err
	}
	objects, err := b.List(ctx, "")
	if err != nil {
		return s, err
	}
	for _, o := range objects {
		s.Objects++
		s.Bytes += o.Size
		if o.Name == noteName {
			continue
		}
		if err := b.Delete(ctx, o.Name); err != nil {
			return s, err
		}
	}
	return s, whole.Delete(ctx, shares+id+"/"+noteName)
}
