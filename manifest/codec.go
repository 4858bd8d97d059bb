package manifest

import (
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// codec goes through the fields of a record in the order of their numbers, and writes or reads each:
// the fields of a record are listed once.
type codec struct {
	w *fieldWriter // nil: read
	r *fieldReader
}

// Each is written out: through a function value the reader would be on the heap, for each record.

func (c codec) number(n byte, v *uint64) {
	if c.w != nil {
		c.w.number(n, *v)
	} else if c.r.at(n) {
		*v = c.r.number()
	}
}

func (c codec) flag(n byte, v *bool) {
	if c.w != nil {
		c.w.flag(n, *v)
	} else if c.r.at(n) {
		*v = c.r.flag()
	}
}

func (c codec) time(n byte, v *time.Time) {
	if c.w != nil {
		c.w.time(n, *v)
	} else if c.r.at(n) {
		*v = c.r.time()
	}
}

func (c codec) object(n byte, v *oid.ID) {
	if c.w != nil {
		c.w.id(n, *v)
	} else if c.r.at(n) {
		*v = c.r.object()
	}
}

func (c codec) text(n byte, v *string) {
	if c.w != nil {
		c.w.text(n, *v)
	} else if c.r.at(n) {
		*v = c.r.text()
	}
}

func (c codec) packed(n byte, v *string) {
	if c.w != nil {
		c.w.packed(n, *v)
	} else if c.r.at(n) {
		*v = c.r.packed()
	}
}

func (c codec) eight(n byte, v *CheckpointID) {
	if c.w != nil {
		c.w.eight(n, *v)
	} else if c.r.at(n) {
		*v = c.r.eight()
	}
}

// list is a text that is made of parts: join gives it, or it is to be taken apart.
func (c codec) list(n byte, join func() string) (list string, read bool) {
	if c.w != nil {
		c.w.text(n, join())
		return "", false
	}
	if !c.r.at(n) {
		return "", false
	}
	return c.r.text(), true
}

// kind takes two numbers: that of a kind, and the one for the text of a kind that has none.
func kind[K ~string](c codec, n byte, kinds []K, v *K) {
	if c.w != nil {
		number, text := kindNumber(kinds, *v)
		c.w.number(n, number)
		c.w.text(n+1, text)
		return
	}
	if c.r.at(n) {
		*v = kindOf(kinds, c.r.number())
	}
	if c.r.at(n + 1) {
		before := *v
		*v = K(c.r.text())
		if number, _ := kindNumber(kinds, *v); number != 0 || before != "" {
			c.r.Fail("kind not in its canonical form")
		}
	}
}

func idList[T CheckpointID | oid.ID](c codec, n byte, v *[]T) {
	if list, read := c.list(n, func() string { return joinIDs(*v) }); read {
		*v = splitIDs[T](c.r, list)
	}
}
