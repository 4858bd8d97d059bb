package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
)

// base is where the commits up to a segment are at hand.
type base struct {
	from *project.PulledLog // nil: this store's own log
	id   string             // of the segment; noParent: nothing is at hand
	last uint64             // its newest commit
}

// log pulls one log up to its end. What it gives is nil where nothing was new.
func (u *pulling) log(ctx context.Context, t tip) (*PulledLog, error) {
	l, known := u.logOf(t)
	if known && !u.isWhole(l) { // it is made anew, under its name
		u.have = slices.DeleteFunc(u.have, func(h project.PulledLog) bool { return h.Dir == l.Dir })
		l.End, known = "", false
	}
	if known && l.Whole && !u.o.Check && l.End == t.end.id() {
		return nil, nil
	}
	b := base{&l, l.End, l.Seq}
	if !known {
		b = u.baseOf(t)
	}
	path, err := u.pathTo(ctx, b, t)
	if err != nil {
		return nil, err
	}
	if l.Name == "" {
		if l, err = u.newLog(ctx, t); err != nil {
			return nil, err
		}
	}
	l.Fork = u.fork(t)
	was := l.Newer
	w, err := u.begin(ctx, l, b, known)
	if err != nil {
		return nil, err
	}
	err = w.receive(ctx, path, b)
	if err == nil {
		w.l.Whole = w.complete(ctx)
	}
	if errors.As(err, new(*lacksError)) || err == nil && !w.l.Whole {
		err = w.again(ctx, t)
	}
	err = errors.Join(err, w.finish(ctx), w.commits.Close())
	u.have = append(slices.DeleteFunc(u.have, func(h project.PulledLog) bool { return h.Dir == l.Dir }), w.l)
	return &PulledLog{w.l, max(0, w.l.Newer-was)}, err
}

// logOf finds what was pulled before of a log: of the same writer, and up to a segment that the log has. Where a writer has several
// logs, a segment that only a merge has is not known to be in any of them.
func (u *pulling) logOf(t tip) (found project.PulledLog, ok bool) {
	in := map[string]uint64{}
	u.before(t.end.id(), in)
	for _, l := range u.have {
		if l.Writer != string(t.end.writer) {
			continue
		}
		if _, there := in[l.End]; there {
			return l, true
		}
		if _, own := u.at.pieces[l.End]; !own && l.Seq < t.end.last {
			found, ok = l, true
		}
	}
	return found, ok
}

// baseOf finds the newest segment of a log of which the commits are at hand: in this store's own log, or in one that was pulled.
func (u *pulling) baseOf(t tip) base {
	b := base{id: noParent}
	in := map[string]uint64{}
	u.before(t.end.id(), in)
	for id := range in {
		if last, own := u.own[id]; own && last > b.last {
			b = base{nil, id, last}
		}
	}
	for i := range u.have {
		l := &u.have[i]
		ids := map[string]uint64{l.End: l.Seq}
		u.before(l.End, ids)
		for id, last := range ids {
			if _, there := in[id]; there && last > b.last {
				b = base{l, id, last}
			}
		}
	}
	return b
}

// pathTo lists the objects that have what a log has behind a base; what the base has may be among it.
func (u *pulling) pathTo(ctx context.Context, b base, t tip) ([]piece, error) {
	if b.id == t.end.id() {
		return nil, nil
	}
	if path, _ := u.at.path(b.id, t.end.id()); path != nil {
		return path, nil
	}
	path, err := u.chain(ctx, noParent, t.end.id())
	return slices.DeleteFunc(path, func(p piece) bool { return p.last <= b.last }), err
}

// fork is the newest commit of a log that this store's own log has, too, as far as the listing shows it; 0: none.
func (u *pulling) fork(t tip) (last uint64) {
	in := map[string]uint64{}
	u.before(t.end.id(), in)
	for id := range in {
		last = max(last, u.own[id])
	}
	return last
}

// newLog names a log that was never pulled.
func (u *pulling) newLog(ctx context.Context, t tip) (project.PulledLog, error) {
	m, err := u.machineOf(ctx, t.end.writer)
	if err != nil {
		return project.PulledLog{}, err
	}
	return project.PulledLog{
		Name: u.nameFor(t.end.writer, m.Machine), Writer: string(t.end.writer), Machine: m.Machine, Root: m.Root,
		Remote: u.Name, Dir: filepath.Join(u.dir, project.PulledName, t.end.id()),
	}, nil
}

// machineOf says who a writer is: its first segment does.
func (u *pulling) machineOf(ctx context.Context, w writerID) (machine, error) {
	if m, ok := u.machines[w]; ok {
		return m, nil
	}
	if m := u.mark(); m.Writer == w { // an earlier life of this store
		name, _ := os.Hostname()
		return machine{Machine: name}, nil
	}
	var first *piece
	for _, ps := range u.at.pieces {
		for _, p := range ps {
			if p.object.writer == w && (first == nil || p.object.first < first.object.first || p.object.first == first.object.first && p.object.size < first.object.size) {
				first = &p
			}
		}
	}
	if first == nil {
		return machine{}, nil
	}
	some, err := u.segments(ctx, *first)
	if err != nil || len(some) == 0 {
		return machine{}, err
	}
	o, err := u.reader.open(some[0].String(), some[0].sealed)
	if err != nil {
		return machine{}, err
	}
	h := o.head
	m := machine{h.Machine, h.Root}
	u.machines[w] = m
	return m, u.write(machinesName, u.machines)
}

// longestMachine is how many bytes of a machine's name are in that of its log.
const longestMachine = 40

// nameFor names the log of a writer: as a push has told that it would be, or else after its machine.
func (u *pulling) nameFor(w writerID, machine string) string {
	writer, name := u.nameOfLater()
	if writer != string(w) || u.names[name] && !u.reserved {
		return freeName(machine, u.names)
	}
	u.names[name], u.reserved = true, false
	return name
}

// freeName is the name of a machine as references can have it. A second machine of the same name gets a number. It comes
// from outside. It is taken then.
func freeName(name string, taken map[string]bool) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name[:min(len(name), longestMachine)])
	for strings.Contains(name, "..") {
		name = strings.ReplaceAll(name, "..", ".")
	}
	name = strings.Trim(name, "._-")
	if !project.IsLogName(name) {
		name = "machine"
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprint(name, "-", n)
	}
	taken[free] = true
	return free
}

// isWhole reports whether the commits of a log are those that its description tells of.
func (u *pulling) isWhole(l project.PulledLog) bool {
	commits, err := l.Open(u.p, false)
	if err != nil {
		return false
	}
	defer commits.Close()
	n, last := 0, uint64(0)
	for c, err := range commits.Commits(1) {
		if err != nil {
			return false
		}
		n, last = n+1, c.Seq
	}
	return n == l.Commits && last <= l.Seq // gc may have dropped the newest of those that were at hand
}
