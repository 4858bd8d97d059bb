package pack

import (
	"errors"
	"fmt"
)

// MalformedError says why bytes are not what they should be. The caller knows which bytes.
type MalformedError string

func (e MalformedError) Error() string { return string(e) }

// IsMalformed tells a MalformedError, which is damage, from a failure to read.
func IsMalformed(err error) bool {
	return errors.As(err, new(MalformedError))
}

// UnknownVersion is the format version of a header that is whole, and that this program does not know.
type UnknownVersion int

func (e UnknownVersion) Error() string { return fmt.Sprintf("format version %d", int(e)) }
