package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// HomeError: the account's directory cannot be written, and stores are registered there.
type HomeError struct {
	Dir string
	Err error
}

func (e *HomeError) Error() string {
	return fmt.Sprintf("stores are registered in %s, which cannot be written: %v", e.Dir, e.Err)
}
func (e *HomeError) Unwrap() error { return e.Err }

// CheckWritable reports whether a store can be registered: asked before anything of a
// new one is made.
func CheckWritable(env Env) error {
	account, _, err := env.MakeAccountDir()
	if account == "" {
		return err
	}
	if err == nil {
		err = CanWrite(account)
	}
	if wrong := (*InPlaceError)(nil); errors.As(err, &wrong) {
		return err
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	if err != nil {
		return &HomeError{Dir: account, Err: err}
	}
	return nil
}

// OwnStore refuses a store of another user, also one that lies where this user cannot
// look. Root may use all: it gives what it makes to the owner.
func OwnStore(store string) error {
	other := &ForeignStoreError{Store: store, Reason: "belongs to another user", OtherUser: true}
	_, uid, err := Identity(store)
	if err == nil && !Usable(uid) {
		return other
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for dir := filepath.Dir(store); ; dir = filepath.Dir(dir) { // the nearest that can be looked at is what keeps us out
		_, uid, derr := Identity(dir)
		if derr == nil && !Usable(uid) {
			return other
		}
		if derr == nil || dir == filepath.Dir(dir) {
			return err
		}
	}
}

// Lock makes sure that one process at a time gives stores to directories. Error: *BusyError.
func Lock(ctx context.Context, env Env) (release func(), err error) {
	account, _, err := env.MakeAccountDir()
	if err != nil {
		return nil, err
	}
	lock, err := LockFile(ctx, filepath.Join(account, "stores.lock"), "stores", true)
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}
