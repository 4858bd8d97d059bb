package workload

import (
	"fmt"
	"os"
	"path/filepath"
)

// Day is an agent's day over one tree: turns of mixed edits, test runs that
// write ignored output, branch switches, a dependency bump that goes back
// later. It keeps in memory what the tree is, and reads nothing.
type Day struct {
	seed  uint64
	shape Shape // the project's own files
	deps  Shape // below vendor/
	turns int
	turn  int

	paths  []string // of the project, by place; "" is deleted
	named  int      // new files so far
	branch uint64
	bumped uint64
}

// NewDay describes a day of so many turns over a tree of so many files, with a
// dependency bump of so many more.
func NewDay(seed uint64, turns, files, bump int) *Day {
	d := &Day{seed: seed, turns: turns, shape: Shape{files, 40, 6 << 10}, deps: Shape{bump, 25, 3 << 10}}
	for i := range files {
		d.paths = append(d.paths, d.shape.Path(i))
	}
	return d
}

// Create writes the tree as it is in the morning.
func (d *Day) Create(root string) error {
	if _, err := Make(root, d.seed, d.shape); err != nil {
		return err
	}
	return d.bump(0).Apply(root)
}

// Turn is what an agent does between two prompts.
type Turn struct {
	Number int
	Kind   string // "edit", "test", "branch", "bump"
	Ops    []Op
}

// OpKind is one way to change a tree.
type OpKind int

const (
	Write      OpKind = iota // the whole file, new or not
	EditOne                  // one line of it
	RemoveFile               //
	Rename                   // to To
)

// Op is one change. Paths are relative to the root, with /.
type Op struct {
	Kind OpKind
	Path string
	To   string // Rename
	Seed uint64 // of the content or of the edit
	Size int    // bytes, Write
}

// Next makes the next turn; ok is false when the day is over.
func (d *Day) Next() (t Turn, ok bool) {
	if d.turn == d.turns {
		return Turn{}, false
	}
	d.turn++
	r := derive(d.seed, 0xda7, uint64(d.turn))
	switch {
	case d.turn%(d.turns/4) == d.turns/8:
		d.bumped ^= 1
		t = d.bump(d.bumped)
	case d.turn%(d.turns/10) == 0:
		t = d.switchBranch(r)
	default:
		t = d.edits(r)
	}
	t.Number = d.turn
	return t, true
}

// edits of one turn: some lines, now and then a new file, one less, another
// name; two turns in five run the tests.
func (d *Day) edits(r *random) Turn {
	t := Turn{Kind: "edit"}
	for range 1 + r.below(4) {
		if i, ok := d.pick(r); ok {
			t.Ops = append(t.Ops, Op{Kind: EditOne, Path: d.paths[i], Seed: r.next()})
		}
	}
	if r.chance(25) {
		d.named++
		path := fmt.Sprintf("src/new%02d/made%05d.go", d.named%20, d.named)
		d.paths = append(d.paths, path)
		t.Ops = append(t.Ops, Op{Kind: Write, Path: path, Seed: r.next(), Size: 500 + r.below(6000)})
	}
	if i, ok := d.pick(r); ok && r.chance(8) {
		t.Ops = append(t.Ops, Op{Kind: RemoveFile, Path: d.paths[i]})
		d.paths[i] = ""
	}
	if i, ok := d.pick(r); ok && r.chance(5) {
		d.named++
		to := fmt.Sprintf("src/new%02d/moved%05d.go", d.named%20, d.named)
		t.Ops = append(t.Ops, Op{Kind: Rename, Path: d.paths[i], To: to})
		d.paths[i] = to
	}
	if r.chance(40) {
		t.Kind = "test"
		for i := range 20 {
			t.Ops = append(t.Ops, Op{Kind: Write, Path: fmt.Sprintf("build/out%03d.o", i), Seed: r.next(), Size: 20_000})
		}
		t.Ops = append(t.Ops, Op{Kind: Write, Path: "test.log", Seed: r.next(), Size: 50_000})
	}
	return t
}

// pick a file of the project that is there.
func (d *Day) pick(r *random) (int, bool) {
	for range 20 {
		if i := r.below(len(d.paths)); d.paths[i] != "" {
			return i, true
		}
	}
	return 0, false
}

// switchBranch rewrites a few hundred files, always the same places: those
// where the branches differ. Every second switch goes back.
func (d *Day) switchBranch(r *random) Turn {
	d.branch ^= 1
	t := Turn{Kind: "branch"}
	for i := 0; i < len(d.paths); i += 20 {
		if d.paths[i] != "" {
			b := derive(d.seed, 0xb4a, d.branch, uint64(i))
			t.Ops = append(t.Ops, Op{Kind: Write, Path: d.paths[i], Seed: b.next(), Size: 1000 + b.below(8000)})
		}
	}
	return t
}

// bump writes the dependencies in one of two versions.
func (d *Day) bump(version uint64) Turn {
	t := Turn{Kind: "bump"}
	for i := range d.deps.Files {
		r := derive(d.seed, 0xdeb, version, uint64(i))
		size := d.deps.size(r)
		t.Ops = append(t.Ops, Op{Kind: Write, Path: "vendor/" + d.deps.Path(i), Seed: r.next(), Size: size})
	}
	return t
}

// Apply carries the turn out below root.
func (t Turn) Apply(root string) error {
	for _, op := range t.Ops {
		if err := op.apply(root); err != nil {
			return fmt.Errorf("turn %d: %w", t.Number, err)
		}
	}
	return nil
}

func (op Op) apply(root string) error {
	file := filepath.Join(root, filepath.FromSlash(op.Path))
	switch op.Kind {
	case Write:
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, Content(op.Seed, op.Size), 0o644)
	case EditOne:
		return Edit(file, op.Seed)
	case RemoveFile:
		return os.Remove(file)
	case Rename:
		to := filepath.Join(root, filepath.FromSlash(op.To))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.Rename(file, to)
	default:
		return fmt.Errorf("operation %d of %s is unknown", op.Kind, op.Path)
	}
}
