package restore

import (
	"encoding/binary"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Expected is what a plan was made from and what it would do: whoever saw a plan passes it on in
// Options.Expect, so that what is done is what was shown.
type Expected struct {
	Root   oid.ID                // of the working tree when it was looked at; zero where the conversation alone moves
	Target manifest.CheckpointID // that it goes to
	Undoes uint64                // the operation that it takes back or does again, 0 for none
	Plan   oid.ID                // of the paths that change: what is done to each, what it was and what it will be
}

// PlanChangedError: what was expected is no longer so. Nothing was changed.
type PlanChangedError struct {
	Expected, Now Expected
}

func (e *PlanChangedError) Error() string {
	if e.Expected.Root != e.Now.Root {
		return "the files changed since the plan was made"
	}
	return "the plan is no longer what it was"
}

// expected sums up what this run would do, to be compared with Options.Expect.
func (r *Run) expected(target manifest.Checkpoint, changes []treeio.Change) Expected {
	e := Expected{Target: target.ID, Undoes: r.Op.Undoes}
	if r.Scan != nil {
		e.Root = r.Scan.Root()
	}
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for _, c := range changes {
		text(c.Path)
		text(c.Action.String())
		for _, side := range []manifest.Entry{c.Before, c.After} {
			text(string(side.ID[:]))
			text(side.Target)
			b = binary.AppendUvarint(b, uint64(side.Mode))
		}
	}
	e.Plan = oid.Sum(b)
	return e
}
