package gitevents

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/manifest"
)

// Kind is what git did. The words are part of JSON documents.
type Kind string

const (
	Commit        Kind = "commit" // also of cherry-pick, revert and am
	Amend         Kind = "amend"
	Merge         Kind = "merge"
	MergeBegun    Kind = "merge-begun" // it waits for conflicts to be resolved
	Pull          Kind = "pull"
	Rebase        Kind = "rebase"
	RebaseBegun   Kind = "rebase-begun" // it is not at its end yet
	RebaseAborted Kind = "rebase-aborted"
	Switch        Kind = "switch"
	Reset         Kind = "reset"
	Moved         Kind = "moved" // HEAD or a reference names another commit, and no line of a reflog says why
	Created       Kind = "created"
	Deleted       Kind = "deleted"
	Renamed       Kind = "renamed"
	Stashed       Kind = "stash"
	Dropped       Kind = "stash-dropped"  // entries are gone from the stash, and no file of the project differs
	Unstashed     Kind = "stash-gone"     // likewise, and files differ: they were popped, or dropped
	WorktreeMade  Kind = "worktree-added" // a linked worktree
	WorktreeGone  Kind = "worktree-removed"
	GitMade       Kind = "git-created" // the repository
	GitGone       Kind = "git-removed"
)

// Event is one thing that git did, or several of the same kind.
type Event struct {
	Kind Kind
	// Names are at most maxNames of those that are meant: references in full, messages of stash entries, names of
	// worktrees; of what HEAD did the branch that it was on, none where it was on none; of Renamed the new name.
	Names []string
	// From and To are ids of commits; of Switch what git calls the two places, a branch mostly; of Renamed and Merge From is the
	// name of what was renamed or merged. "" is not known.
	From, To string
	Count    int       // commits, references, entries of the stash; of Reset the commits that the branch has fewer, 0 for not known
	Text     string    // the subject of To, of Moved what the reflog says; "" is not known
	New      bool      // of Switch: the branch is a new one
	Repo     string    // the repository's path below the project's root; "" of the one around the project
	Time     time.Time // of the newest line of a reflog, zero for not known
}

// maxNames is how many names an event has at most. Count is how many there are.
const maxNames = 3

// Point is what is known of git at one time.
type Point struct {
	Root       oid.ID // tree of the project's files
	State      oid.ID // zero: no state was captured
	Repository bool   // there was one, whether its state was captured or not
}

// Reader reads the events between states of one project. It remembers what it read last, which the next pair needs again. It
// is for one goroutine.
type Reader struct {
	objects gitstate.Objects
	root    string
	logs    [2]logText
}

type logText struct {
	id   oid.ID
	text []byte
}

// NewReader reads states from objects, of the project in root.
func NewReader(objects gitstate.Objects, root string) *Reader {
	return &Reader{objects: gitstate.Whole(objects), root: root}
}

// Between is what git did from a to b, in the repository around the project and in those below it, the oldest first; none where
// it is not known. Errors: of the store, *gitstate.FormatError.
func (r *Reader) Between(a, b Point) ([]Event, error) {
	switch {
	case a.State == b.State && a.Repository == b.Repository:
		return nil, nil
	case a.State.IsZero() && (a.Repository || b.State.IsZero()), b.State.IsZero() && b.Repository:
		return nil, nil
	}
	was, err := r.around(a.State)
	if err != nil {
		return nil, err
	}
	is, err := r.around(b.State)
	if err != nil {
		return nil, err
	}
	events, err := r.compare(was, is, a.Root == b.Root)
	if err != nil {
		return nil, err
	}
	others, err := r.others(a, b, was, is)
	if err != nil || len(others) == 0 {
		return events, err
	}
	return byTime(append([][]Event{events}, others...)), nil
}

// around is the state of the repository around the project; nil where there is none.
func (r *Reader) around(id oid.ID) (*gitstate.State, error) {
	if id.IsZero() {
		return nil, nil
	}
	s, err := gitstate.Load(r.objects, id, r.root)
	if errors.Is(err, gitstate.ErrNoneAround) {
		return nil, nil
	}
	return s, err
}

// compare is what git did in one repository from one state to another; nil: there is no repository.
func (r *Reader) compare(was, is *gitstate.State, sameFiles bool) ([]Event, error) {
	switch {
	case was == nil && is == nil:
		return nil, nil
	case is == nil:
		return []Event{{Kind: GitGone}}, nil
	case was == nil:
		return []Event{{Kind: GitMade}}, nil
	case was.Files() == is.Files() || was.Common != is.Common || was.GitDir != is.GitDir:
		return nil, nil
	}
	c := comparison{r: r, a: side{State: was}, b: side{State: is}, sameFiles: sameFiles}
	for _, step := range []func() error{c.compare, c.head, c.stash, c.references} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.inProgress()
	return c.events, nil
}

// Stashes counts the entries of the stash in a state.
func (r *Reader) Stashes(id oid.ID) (int, error) {
	state, err := gitstate.Load(r.objects, id, r.root)
	if errors.Is(err, gitstate.ErrNoneAround) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	c := comparison{r: r}
	e, ok, err := manifest.Find(r.objects.Load, state.Files(), "logs/"+stashRef)
	if err != nil || !ok || e.Kind == manifest.Subdir {
		return 0, err
	}
	text, err := c.log(&side{State: state}, &e)
	return len(gitrepo.ParseLog(text)), err
}

// add adds an event, or to the last one, if that is of the same kind and of the same names.
func (c *comparison) add(e Event) {
	if n := len(c.events) - 1; n >= 0 {
		last := &c.events[n]
		if last.Kind == e.Kind && slices.Equal(last.Names, e.Names) && last.To == e.From {
			switch e.Kind {
			case Commit, Amend, Pull, Switch, Moved:
				last.To, last.Text, last.Time = e.To, e.Text, e.Time
				last.Count += e.Count
				last.New = last.New || e.New
				if (e.Kind == Switch || e.Kind == Moved) && last.From == last.To {
					c.events = c.events[:n] // there and back
				}
				return
			}
		}
	}
	c.events = append(c.events, e)
}

// count adds one of several names to the event of its kind, which is made where there is none.
func (c *comparison) count(kind Kind, group, name string, e Event) {
	key := string(kind) + " " + group
	if c.counted == nil {
		c.counted = map[string]int{}
	}
	i, ok := c.counted[key]
	if !ok {
		i = len(c.events)
		c.counted[key] = i
		e.Kind = kind
		c.events = append(c.events, e)
	}
	of := &c.events[i]
	if of.Count++; len(of.Names) < maxNames {
		of.Names = append(of.Names, name)
	}
	if e.Time.After(of.Time) {
		of.Time = e.Time
	}
}

// CanLose reports whether something may have been lost by an event: what a reference or the stash named before.
func (e Event) CanLose() bool {
	switch e.Kind {
	case Amend, Rebase, RebaseBegun, Reset, Moved, Deleted, Dropped, Unstashed, GitGone, WorktreeGone:
		return true
	case Switch: // away from a commit that no branch has
		return strings.Trim(e.From, "0123456789abcdef") == "" || strings.ContainsAny(e.From, "~^@:")
	}
	return false
}
