package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

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
type NoShareError struct{ ID string }

func (e *NoShareError) Error() string {
	return fmt.Sprintf("the remote has no share %q, or several that begin so", e.ID)
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
	all, found := make([]Share, 0, len(ids)), map[string]string{}
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
			if data, _, err := keys.Open(sealed); err == nil && json.Unmarshal(data, &s.Note) == nil { // anybody can have put something else there
				found[id] = s.Checkpoint
			}
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, s)
	}
	if len(found) > 0 {
		_ = r.noteShares(ctx, func(known map[string]string) { maps.Copy(known, found) }) // the next listing finds them, too
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
	meant := slices.DeleteFunc(ids, func(s string) bool { return id == "" || !strings.HasPrefix(s, id) })
	if len(meant) == 0 {
		_ = r.noteShares(ctx, func(known map[string]string) { delete(known, id) }) // another machine has removed it
	}
	if len(meant) != 1 {
		return removed, &NoShareError{id}
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
	if err := whole.Delete(ctx, shares+id+"/"+noteName); err != nil {
		return s, err
	}
	return s, r.noteShares(ctx, func(known map[string]string) { delete(known, id) })
}

// sharesName is the file of a remote's directory that has the checkpoint of each share that this store knows of, by its id.
const sharesName = "shares.json"

// KnownShare is a share that this store has made, or listed.
type KnownShare struct {
	Remote     string `json:"remote"`
	ID         string `json:"share"`
	Checkpoint string `json:"checkpoint"` // its id
}

// KnownShares are those of all remotes. It asks no remote.
func KnownShares(p *project.Project) (all []KnownShare, err error) {
	every, err := List(p)
	if err != nil {
		return nil, err
	}
	for _, r := range every {
		known := map[string]string{}
		if err := r.read(sharesName, &known); err != nil {
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(known)) {
			all = append(all, KnownShare{r.Name, id, known[id]})
		}
	}
	return all, nil
}

// noteShares changes what the store knows of shares, one process at a time.
func (r *Remote) noteShares(ctx context.Context, f func(known map[string]string)) error {
	if r.p.ReadOnly != nil {
		return nil
	}
	lock, err := lockRemotes(ctx, r.p)
	if err != nil {
		return err
	}
	defer lock.Release()
	known := map[string]string{}
	if err := r.read(sharesName, &known); err != nil || known == nil {
		known = map[string]string{} // one that is torn says nothing
	}
	was := maps.Clone(known)
	if f(known); maps.Equal(was, known) {
		return nil
	}
	if err := r.makeDir(); err != nil {
		return err
	}
	return r.write(sharesName, known)
}
