package attribution

import (
	"context"
	"sort"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of New.
type Options struct {
	// From and To bound the commits that are asked about, To inclusive; 0: all.
	From, To uint64
	// Lookback is how many checkpoints before From are read for calls that reach behind it; 0: some hundreds. Of fewer,
	// a command that ran on from before them is not known.
	Lookback int
	// Now is the working tree; nil: it was not looked at.
	Now *Present
}

// Present is the working tree as a scan found it.
type Present struct {
	Time time.Time // when the scan began, on the file system's clock
	Root oid.ID
	Load func(oid.ID) (manifest.Dir, error) // its directories
	// At is the change time of each path that differs from the newest checkpoint, of a deleted one that of
	// its directory. nil: not known.
	At map[string]time.Time
	// Windows are those that no checkpoint has taken along yet.
	Windows []manifest.Window
}

// Attribution answers who changed what, of the log as New found it. It holds nothing open, and is for one
// goroutine. The caller holds the project.
type Attribution struct {
	ctx context.Context
	p   *project.Project
	o   Options

	points    []*point  // oldest first
	idle      []*point  // operations that found all files as they were to be
	windows   []*window // but for those in lasting, in the order in which they opened
	reach     []uint64  // see reachOf
	lasting   []*window // left in the background, and open
	turns     []*window
	turnReach []uint64
	tells     map[source]bool       // sessions whose hooks report calls
	whole     bool                  // in the whole log
	calls     map[callKey][]*window // as they began: an id may be given again
	unnamed   map[source][]*window  // of calls without an id, as they began
	texts     map[string]string     // prompts by their ids
	dirs      map[oid.ID]manifest.Dir
	db        *manifest.DB // while a question is asked
	known     map[uint64][]Step
	gone      map[uint64][]*window                  // see goneBefore
	written   map[uint64]map[int64][]manifest.Touch // see writtenAt
	nested    []project.NestedStore
	linking   bool // linked is looking into another path
}

// New reads the log. Errors: those of project.Query.
func New(ctx context.Context, p *project.Project, o Options) (*Attribution, error) {
	a := &Attribution{ctx: ctx, p: p, o: o, dirs: map[oid.ID]manifest.Dir{}, known: map[uint64][]Step{}, nested: p.NestedStores()}
	if err := p.Query(ctx, a.load); err != nil {
		return nil, err
	}
	return a, nil
}

// Oldest is the oldest checkpoint that is asked about; nil where there is none.
func (a *Attribution) Oldest() *manifest.Checkpoint {
	if pt := a.oldest(); pt != nil {
		return pt.c
	}
	return nil
}

// Ask is for several questions with one look into the database.
func (a *Attribution) Ask(questions func() error) error {
	return a.ask(func(*manifest.DB) error { return questions() })
}

// Within has the questions that follow asked of an open database; nil: each opens it.
func (a *Attribution) Within(db *manifest.DB) { a.db = db }

// ask opens the database, where it is not open.
func (a *Attribution) ask(question func(*manifest.DB) error) error {
	if a.db != nil {
		return question(a.db)
	}
	return a.p.Query(a.ctx, func(db *manifest.DB) error {
		a.db = db
		defer func() { a.db = nil }()
		return question(db)
	})
}

// Agents reports whether any agent's work is known in what was read.
func (a *Attribution) Agents() bool { return len(a.windows)+len(a.lasting)+len(a.turns) > 0 }

// index is that of the first point that is not older than a sequence number.
func (a *Attribution) index(seq uint64) int {
	return sort.Search(len(a.points), func(i int) bool { return a.points[i].seq >= seq })
}

// loadDir loads a directory, and keeps it.
func (a *Attribution) loadDir(id oid.ID) (manifest.Dir, error) {
	if d, ok := a.dirs[id]; ok {
		return d, nil
	}
	d, err := a.p.LoadDir(id)
	if err == nil {
		a.dirs[id] = d
	}
	return d, err
}

func (n *Present) point() *point {
	return &point{seq: ThenNow, time: n.Time, root: n.Root, at: n.At}
}

// commit is the checkpoint before (-1) or behind a sequence number, by its own.
func (a *Attribution) commit(seq uint64, way int) uint64 {
	n := a.index(seq)
	if way < 0 {
		n--
	}
	for ; n >= 0 && n < len(a.points); n += way {
		if a.points[n].c != nil {
			return a.points[n].seq
		}
	}
	if way < 0 {
		return 0
	}
	return ThenNow
}

// Closing is the checkpoint whose Changes a step to a sequence number is among; ThenNow where there is none yet.
func (a *Attribution) Closing(seq uint64) uint64 { return a.commit(seq, +1) }
