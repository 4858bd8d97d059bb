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
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tailscale/hujson"
)

// TestText makes errors by the calls that return them: no text of Go's own is left.
func TestText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, open := os.Open(filepath.Join(dir, "none"))
	_, atoi := strconv.Atoi("x1")
	_, jsonc := hujson.Parse([]byte("{\n"))
	_, listen := net.Listen("tcp", "192.0.2.1:80")
	var number struct{ N int }
	for _, c := range []struct {
		err  error
		want string
	}{
		{open, "cannot open " + dir + "/none: no such file or directory"},
		{fmt.Errorf("export a: %w", open), "export a: cannot open " + dir + "/none: no such file or directory"},
		{os.Mkdir(filepath.Join(file, "d"), 0o700), "cannot make the directory " + file + "/d: not a directory"},
		{os.Rename(file, filepath.Join(dir, "a", "b")), "cannot rename " + file + " to " + dir + "/a/b: no such file or directory"},
		{atoi, `"x1" is not a number`},
		{json.Unmarshal([]byte("garbage"), &number), "not valid JSON at byte 1"},
		{fmt.Errorf("f: %w", json.Unmarshal([]byte(`{"N":"x"}`), &number)), "f: not the expected JSON at byte 8: a string is of the wrong type"},
		{fmt.Errorf("f: %w", json.Unmarshal(nil, &number)), "f: not valid JSON at byte 0"},
		{jsonc, "line 2, column 1: parsing value: it ends too early"},
		{fmt.Errorf("the store: %w", io.ErrUnexpectedEOF), "the store: it ends too early"},
		{fmt.Errorf("the store: %w", context.DeadlineExceeded), "the store: it took too long"},
		{errors.Join(open, io.EOF), "cannot open " + dir + "/none: no such file or directory; it ends too early"},
		{fmt.Errorf("write: %w", errors.Join(open, open)), "write: cannot open " + dir + "/none: no such file or directory"},
		{exec.Command("no-such-program-here").Run(), "cannot run no-such-program-here: it is not in $PATH"},
		{exec.Command(dir).Run(), "cannot run " + dir + ": permission denied"},
		{listen, "cannot listen on 192.0.2.1:80: cannot assign requested address"},
		{errors.New("plain words"), "plain words"},
		{&saidBefore{&fs.PathError{Op: "write", Path: "/f", Err: syscall.ENOSPC}}, "gc: cannot write /f: no space left on device"},
	} {
		if c.err == nil {
			t.Errorf("%q: the call did not fail", c.want)
			continue
		}
		if got := Text(c.err); got != c.want {
			t.Errorf("%q\n is %q,\nwant %q", c.err, got, c.want)
		}
	}
	if got := InWords("read it: "+strings.ToUpper("x")+": unexpected EOF", io.ErrUnexpectedEOF); got != "read it: X: it ends too early" {
		t.Error(got)
	}
}

// saidBefore has the text of its cause in words already.
type saidBefore struct{ err error }

func (e *saidBefore) Error() string { return "gc: " + Text(e.err) }
func (e *saidBefore) Unwrap() error { return e.err }
