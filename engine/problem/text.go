package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Text is an error as a person reads it: the texts of Go's own errors in it, which name system
// calls and Go types, are replaced by sentences.
func Text(err error) string { return InWords(err.Error(), err) }

// InWords replaces in a message the texts of Go's own errors that err consists of.
func InWords(message string, err error) string {
	var own string // the error's text in words, "" where it is not one of Go's
	switch e := err.(type) {
	case *fs.PathError:
		own = action(e.Op) + " " + e.Path + ": " + Text(e.Err)
	case *os.LinkError:
		own = action(e.Op) + " " + e.Old + " to " + e.New + ": " + Text(e.Err)
	case *os.SyscallError:
		own = Text(e.Err)
	case *net.OpError:
		own = action(e.Op)
		if e.Addr != nil {
			own += " " + e.Addr.String()
		}
		own += ": " + Text(e.Err)
	case *exec.Error:
		own = "cannot run " + e.Name + ": " + Text(e.Err)
	case *strconv.NumError:
		own = fmt.Sprintf("%q is not a number", e.Num)
	case *json.SyntaxError:
		own = fmt.Sprintf("not valid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		own = fmt.Sprintf("not the expected JSON at byte %d: a %s is of the wrong type", e.Offset, e.Value)
	default:
		switch err {
		case context.DeadlineExceeded:
			own = "it took too long"
		case context.Canceled:
			own = "interrupted"
		case io.EOF, io.ErrUnexpectedEOF:
			own = "it ends too early"
		case exec.ErrNotFound:
			own = "it is not in $PATH"
		}
	}
	if own != "" {
		return replaceLast(message, err.Error(), own)
	}
	message = strings.ReplaceAll(message, "hujson: ", "")
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		if text, ok := joined(err.Error(), e.Unwrap()); ok {
			return replaceLast(message, err.Error(), text)
		}
		for _, one := range e.Unwrap() {
			message = InWords(message, one)
		}
	case interface{ Unwrap() error }:
		if inner := errors.Unwrap(err); inner != nil {
			message = InWords(message, inner)
		}
	}
	return message
}

// joined is what errors.Join made of several errors, as one line that says each thing once.
func joined(text string, all []error) (line string, ok bool) {
	var raw, words []string
	for _, one := range all {
		raw = append(raw, one.Error())
		if text := Text(one); !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return strings.Join(words, "; "), len(all) > 1 && text == strings.Join(raw, "\n")
}

// replaceLast: causes are named at the end of a message, and a path before may hold the same text.
func replaceLast(s, old, by string) string {
	if i := strings.LastIndex(s, old); i >= 0 && !(strings.HasSuffix(by, old) && strings.HasSuffix(s[:i+len(old)], by)) { // else it is in words already
		return s[:i] + by + s[i+len(old):]
	}
	return s
}

// action says what could not be done, for the name of a system call in an error of the standard library.
func action(op string) string {
	switch strings.TrimSuffix(op, "at") {
	case "open":
		return "cannot open"
	case "mkdir":
		return "cannot make the directory"
	case "create", "mknod":
		return "cannot create"
	case "read", "pread", "readv", "seek", "mmap":
		return "cannot read"
	case "write", "pwrite", "copy_file_range":
		return "cannot write"
	case "list", "readdir", "readdirent", "fdopendir":
		return "cannot list"
	case "readlink":
		return "cannot read the link"
	case "link", "symlink":
		return "cannot link"
	case "rename":
		return "cannot rename"
	case "remove", "removeall", "unlink", "rmdir":
		return "cannot remove"
	case "chmod", "fchmod":
		return "cannot change the mode of"
	case "chtimes", "utimensat", "futimesat":
		return "cannot set the times of"
	case "truncate", "ftruncate":
		return "cannot change the size of"
	case "sync", "fsync", "syncfs", "fdatasync":
		return "cannot write to the disk"
	case "lock", "flock":
		return "cannot lock"
	case "chdir":
		return "cannot change to"
	case "watch":
		return "cannot watch"
	case "listen", "bind":
		return "cannot listen on"
	case "dial", "connect":
		return "cannot connect to"
	case "exec", "fork/exec":
		return "cannot run"
	}
	return "cannot access"
}
