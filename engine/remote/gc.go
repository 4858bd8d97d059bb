package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long what is not needed stays.
const (
	mergedStays    = 24 * time.Hour     // the objects that a merge holds, after it came
	condemnedStays = 7 * 24 * time.Hour // objects that no segment names, after they were put on a list
)

// GCOptions are those of GC.
type GCOptions struct {
	Log    string // the beginning of the id of a log that is to be removed, as far as no other one continues it; "": none
	DryRun bool   // nothing is removed or condemned
}

// Collected is what GC did, or would do.
type Collected struct {
	Remote    *Remote
	Merged    Freed // objects that a merge holds
	Dead      Freed // objects that no segment names
	Log       Freed // those of the log that was named
	Waiting   Freed // what is to be removed later
	Condemned int   // of these, how many were put on a list now
	Refused   []string
	Requests  int
}

// Freed counts objects.
type Freed struct {
	Objects int
	Bytes   int64
}

// UnsureError: something of a remote is missing or cannot be read, so that nobody can tell what is needed. Nothing was removed.
type UnsureError struct{ Err error }

func (e *UnsureError) Error() string {
	return "nothing was removed, since not all of the remote can be read: " + e.Err.Error()
}

func (e *UnsureError) Unwrap() error { return e.Err }

// OwnLogError: a log is the one to which this project pushes.
type OwnLogError struct{ Log string }

func (e *OwnLogError) Error() string {
	return fmt.Sprintf("the log %s is the one to which this project pushes", e.Log)
}

// collecting is one GC.
type collecting struct {
	*survey
	o    GCOptions
	done *Collected
	keep map[string]bool // packs that segments name
	gone map[string]bool // objects that are removed

	waits map[string]bool // objects that stay for now
}

// GC removes what nothing needs from a remote: objects a day after a merge has them; and packs, and objects that are not whole, a week after
// an earlier call found that no segment names them, and put them on a list. It needs the remote's key and the right to delete; what the place does not let
// it remove is named, and no error. Errors: *UnsureError where anything is missing, *NoLogError, *OwnLogError, *GoneError, *KeyError, those of package
// bucket.
func (r *Remote) GC(ctx context.Context, o GCOptions) (*Collected, error) {
	b, err := r.bucket()
	if err != nil {
		return nil, err
	}
	s, err := r.survey(ctx, b, false)
	if err != nil {
		return nil, err
	}
	g := &collecting{survey: s, o: o, done: &Collected{Remote: r}, keep: map[string]bool{}, gone: map[string]bool{}, waits: map[string]bool{}}
	defer func() { g.done.Requests = s.requests }()
	var remove []segmentName
	exclusive := map[string]bool{}
	if o.Log != "" {
		if exclusive, err = g.only(r.mark()); err != nil {
			return g.done, err
		}
		remove = g.objectsOf(exclusive)
	}
	if err := g.sure(exclusive); err != nil {
		return g.done, err
	}
	for id, one := range s.known {
		for _, p := range one.packs {
			g.keep[p] = g.keep[p] || !exclusive[id]
		}
	}
	for _, n := range remove { // the newest one first: what remains at any time is a log
		if err := g.remove(ctx, &g.done.Log, n.String()); err != nil {
			return g.done, err
		}
	}
	if err := g.merged(ctx); err != nil {
		return g.done, err
	}
	return g.done, g.dead(ctx)
}

// sure refuses to go on where something is missing or cannot be read, but for a log that is to be removed.
func (g *collecting) sure(exclusive map[string]bool) error {
	if g.locked != nil { // what that segment names is not known
		return g.locked
	}
	for _, err := range g.damaged {
		var bad *BadObjectError
		if !errors.As(err, &bad) {
			continue // a gap comes below; a pack that is missing changes nothing
		}
		n, ok := parseSegmentName(bad.Name)
		if ok && (n.merge() || exclusive[n.id()]) { // a merge is not needed, unless there is a gap without it
			continue
		}
		return &UnsureError{err}
	}
	for log, err := range g.gaps {
		if !exclusive[log] {
			return &UnsureError{err}
		}
	}
	return nil
}

// only finds the segments of the log that is to be removed and of no other one.
func (g *collecting) only(own mark) (map[string]bool, error) {
	meant := slices.DeleteFunc(slices.Clone(g.at.logs), func(l Log) bool { return !strings.HasPrefix(l.ID, g.o.Log) })
	if len(meant) != 1 {
		return nil, &NoLogError{g.o.Log, g.at.logs}
	}
	all := g.ids(meant[0].ID)
	for _, l := range g.at.logs {
		if l.ID != meant[0].ID {
			for id := range g.ids(l.ID) {
				delete(all, id)
			}
		}
	}
	if before, ok := parseStamp(own.Before); ok && all[parentOf(before)] {
		return nil, &OwnLogError{meant[0].ID}
	}
	return all, nil
}

// objectsOf are the objects that hold nothing but such segments, the newest one first.
func (g *collecting) objectsOf(ids map[string]bool) (all []segmentName) {
	for n, held := range g.whole {
		if !slices.ContainsFunc(held, func(id string) bool { return !ids[id] }) {
			all = append(all, n)
		}
	}
	for id := range ids {
		for _, p := range g.at.pieces[id] {
			if !p.object.merge() {
				all = append(all, p.object)
			}
		}
	}
	slices.SortFunc(all, func(a, b segmentName) int { return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.first, a.first)) })
	return all
}

// merged removes what merges hold: segments, and smaller merges. The oldest goes first, so that nothing looks like the end of a log.
func (g *collecting) merged(ctx context.Context) error {
	holds := map[string]segmentName{} // by an object's name: the merge that holds it, and has been there longest
	keep := func(held, by segmentName) {
		if was, ok := holds[held.String()]; !ok || g.age(by.String()) > g.age(was.String()) {
			holds[held.String()] = by
		}
	}
	var all []segmentName
	for m, held := range g.whole {
		if g.gone[m.String()] {
			continue
		}
		for _, id := range held {
			for _, p := range g.at.pieces[id] {
				inner, read := g.whole[p.object]
				if !p.object.merge() || read && p.id == p.object.end && len(inner) < len(held) && subset(inner, held) {
					keep(p.object, m)
					all = append(all, p.object)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b segmentName) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.String(), b.String()))
	})
	stuck := map[writerID]bool{}
	for _, n := range slices.Compact(all) {
		switch {
		case g.gone[n.String()], stuck[n.writer]:
		case g.age(holds[n.String()].String()) < mergedStays:
			g.wait(n.String())
		default:
			if err := g.remove(ctx, &g.done.Merged, n.String()); err != nil {
				return err
			}
			stuck[n.writer] = !n.merge() && !g.o.DryRun && !g.gone[n.String()]
		}
	}
	return nil
}

// subset reports whether a merge that holds all ids holds some of them in the same order.
func subset(some, all []string) bool {
	i := slices.Index(all, some[0])
	return i >= 0 && i+len(some) <= len(all) && slices.Equal(some, all[i:i+len(some)])
}

// dead removes what was condemned long ago and is still named by nothing, and condemns what is new.
func (g *collecting) dead(ctx context.Context) error {
	dead := map[string]bool{}
	for name, o := range g.objects {
		switch {
		case g.gone[name]:
		case strings.HasPrefix(name, packs):
			dead[name] = !g.keep[name]
		case strings.HasPrefix(name, segments):
			n, ok := parseSegmentName(name)
			dead[name] = ok && (n.size != o.Size || g.at.bad[name])
		case (strings.HasPrefix(name, probes) || strings.HasPrefix(name, clocks)) && g.age(name) >= mergedStays:
			if err := g.remove(ctx, &g.done.Dead, name); err != nil {
				return err
			}
		}
	}
	if err := g.oldIndexes(ctx); err != nil {
		return err
	}
	listed := map[string]bool{}
	for name := range g.objects {
		if !strings.HasPrefix(name, condemned) {
			continue
		}
		names, err := g.condemnation(ctx, name)
		if err != nil {
			return err
		}
		old, left := g.age(name) >= condemnedStays, 0
		for _, n := range names {
			if !dead[n] || g.gone[n] {
				continue
			}
			listed[n] = true
			if !old {
				left++
				g.wait(n)
				continue
			}
			if err := g.remove(ctx, &g.done.Dead, n); err != nil {
				return err
			}
			if !g.gone[n] {
				left++
			}
		}
		if left == 0 && old && !g.o.DryRun { // the list goes after what is on it, so that a push that looks at both misses nothing
			if err := g.remove(ctx, &Freed{}, name); err != nil {
				return err
			}
		}
	}
	var fresh condemnation
	for name := range dead {
		if dead[name] && !listed[name] {
			fresh.Condemned = append(fresh.Condemned, name)
			g.wait(name)
		}
	}
	if g.done.Condemned = len(fresh.Condemned); len(fresh.Condemned) == 0 || g.o.DryRun {
		return nil
	}
	slices.Sort(fresh.Condemned)
	data, err := json.Marshal(fresh)
	if err != nil {
		return err
	}
	g.requests++
	return g.b.Put(ctx, condemned+stampOf(data).String(), data)
}

// condemnation reads a list; what is not one names nothing.
func (g *collecting) condemnation(ctx context.Context, name string) ([]string, error) {
	names, err := readCondemned(ctx, g.reader, name)
	return names, g.note(err)
}

// remove removes an object, if that is not only tried.
func (g *collecting) remove(ctx context.Context, freed *Freed, name string) error {
	if g.gone[name] {
		return nil
	}
	if !g.o.DryRun {
		g.requests++
		if err := g.b.Delete(ctx, name); denied(err) {
			g.done.Refused = append(g.done.Refused, name)
			return nil
		} else if err != nil {
			return err
		}
	}
	g.gone[name] = true
	freed.Objects++
	freed.Bytes += g.objects[name].Size
	return nil
}

// wait counts what stays for now.
func (g *collecting) wait(name string) {
	if g.waits[name] {
		return
	}
	g.waits[name] = true
	g.done.Waiting.Objects++
	g.done.Waiting.Bytes += g.objects[name].Size
}
