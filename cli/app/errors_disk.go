package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// explainDisk says that the disk is full, or has less free space than what is to be done takes; false: it is none of that. It
// comes last: an error that says where the disk is, as of a remote in a directory, has a better hint.
func explainDisk(err error, f *Failure) bool {
	var (
		floor *project.DiskFullError
		gc    *maintain.GCSpaceError
	)
	switch {
	case errors.As(err, &floor):
		f.Message = strings.Replace(f.Message, floor.Error(), fmt.Sprintf("only %s free on the disk, less than minFreeDisk (%s)",
			FormatSize(floor.Free), FormatSize(floor.Floor)), 1)
		f.Hint = "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk SIZE (with --global where rewind init has yet to run)"
	case errors.As(err, &gc):
		f.Message = strings.Replace(f.Message, gc.Error(), "nothing was removed: what is kept has to be written to new files first, which takes "+
			FormatSize(gc.Need)+", and only "+FormatSize(gc.Free)+" are free on the disk", 1)
		f.Hint = "free some space elsewhere, then run the command again; rewind stores rm --gone removes the stores of deleted projects"
	case problem.NoSpace(err):
		f.Message, f.Hint = "no space left on the disk: "+err.Error(), "free some space, then run the command again; rewind stores rm --gone and rewind gc remove history"
	default:
		return false
	}
	return true
}
