package settings

import (
	"fmt"
	"strings"
)

// Warning is something in the settings that was not used. It is an error too,
// for validate.
type Warning struct {
	Source  string // file, or environment variable
	Key     string // "" where the whole file is meant
	Problem string // "is unknown", "is a number", "cannot be read"
	Allowed string // what is allowed, "" where that makes no sense
}

// Error is one line; names from files are quoted, so that no control character
// gets through.
func (w Warning) Error() string {
	var b strings.Builder
	b.WriteString(w.Source + ": ")
	if w.Key != "" {
		fmt.Fprintf(&b, "%q ", w.Key)
	}
	b.WriteString(w.Problem)
	if w.Allowed != "" {
		b.WriteString(", allowed: " + w.Allowed)
	}
	return b.String()
}

// KeyError: there is no such setting. Known has the names that exist.
type KeyError struct {
	Key   string
	Known []string
}

func (e *KeyError) Error() string { return fmt.Sprintf("there is no setting %q", e.Key) }

// ValueError: the value is not one that the key can have.
type ValueError struct{ Key, Value, Allowed string }

func (e *ValueError) Error() string {
	return fmt.Sprintf("%q cannot be %q, allowed: %s", e.Key, e.Value, e.Allowed)
}

// BusyError: another process kept changing the file. It was left as it is.
type BusyError struct{ File string }

func (e *BusyError) Error() string { return e.File + " is being changed by another process" }

// NotJSONError: the file holds something else than a JSON object. It was left
// as it is.
type NotJSONError struct {
	File string
	Err  error
}

func (e *NotJSONError) Error() string { return fmt.Sprintf("%s is not valid JSON: %v", e.File, e.Err) }
func (e *NotJSONError) Unwrap() error { return e.Err }
