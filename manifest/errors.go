package manifest

import (
	"cmp"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/table"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// TreeError says which directory of a tree could not be read.
type TreeError struct {
	Path string // of the directory; "" is the root
	ID   oid.ID // its manifest
	Err  error
}

func (e *TreeError) Error() string {
	path := cmp.Or(e.Path, ".")
	return fmt.Sprintf("directory %q (%x): %v", path, e.ID[:6], e.Err)
}

func (e *TreeError) Unwrap() error { return e.Err }

// DepthError says that a tree is deeper than MaxDepth.
type DepthError struct{ Path string }

func (e *DepthError) Error() string {
	return fmt.Sprintf("more than %d directories deep", MaxDepth)
}

// FormatError says that bytes are not what they should be.
type FormatError = wire.FormatError

// DamagedError says that a generation of the database does not hold what it should.
type DamagedError = table.DamagedError
