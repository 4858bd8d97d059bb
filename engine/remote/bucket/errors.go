package bucket

import (
	"context"
	"errors"
	"fmt"
)

// URLError: the URL, or what it names, must be corrected before anything can work.
type URLError struct {
	URL    string // without secrets
	Reason string
	Next   string // what to do, a sentence
}

func (e *URLError) Error() string { return fmt.Sprintf("%q: %s", e.URL, e.Reason) }

// UnreachableError: the place did not answer, or only with errors of its own. The same call may work later.
type UnreachableError struct {
	Host string // of the URL, or the directory
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s does not answer: %v", e.Host, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// DeniedError: the place refused, or there are no credentials for it.
type DeniedError struct {
	Host string // of the URL, or the directory
	Next string // what to do, a sentence
	Err  error  // what was refused, and the words of the server
}

func (e *DeniedError) Error() string { return fmt.Sprintf("%s refuses: %v", e.Host, e.Err) }

func (e *DeniedError) Unwrap() error { return e.Err }

// NameError: no object may have such a name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no name of an object of a remote", e.Name)
}

// TooLargeError: an object has more bytes than the caller expects.
type TooLargeError struct {
	Name  string
	Limit int64 // in bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has more than the %d bytes that it should have", e.Name, e.Limit)
}

// about adds the operation and the object to an error that does not say what to do by itself.
func about(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*UnreachableError)) || errors.As(err, new(*DeniedError)) || errors.As(err, new(*URLError)) || errors.As(err, new(*NameError)) || errors.As(err, new(*TooLargeError)) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s %s: %w", op, name, err)
}
