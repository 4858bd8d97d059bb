package gitprogram

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Reader reads a repository's objects by one git cat-file. One goroutine at a time uses it.
type Reader struct {
	ctx    context.Context
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	in     io.WriteCloser
	out    *bufio.Reader
	left   int64 // bytes of the object before that were not read
}

// Open begins to read the repository that dir is, or is in. Errors: *MissingError, *FailedError.
func Open(ctx context.Context, dir string) (*Reader, error) {
	cmd, _, err := command(ctx, dir, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	return Read(ctx, cmd)
}

// Read is Open with a command of the caller's, which is git cat-file --batch and was not started.
func Read(ctx context.Context, cmd *exec.Cmd) (*Reader, error) {
	r := &Reader{ctx: ctx, cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr = r.stderr
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 256<<10)
	return r, failed(ctx, r.cmd, r.stderr, r.cmd.Start())
}

// Close ends the reading.
func (r *Reader) Close() {
	_ = r.in.Close()
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// ErrNoObject: the repository does not have an object that it names.
var ErrNoObject = errors.New("an object is missing in the git repository")

// Object gives the content of an object, whose kind must be that: to be read before the next call.
func (r *Reader) Object(id, kind string) (content io.Reader, size int64, err error) {
	if r.left > 0 { // and the newline after it
		if _, err := r.out.Discard(int(r.left)); err != nil {
			return nil, 0, r.failed(err)
		}
	}
	r.left = 0
	if _, err := io.WriteString(r.in, id+"\n"); err != nil {
		return nil, 0, r.failed(err)
	}
	line, err := r.out.ReadString('\n')
	if err != nil {
		return nil, 0, r.failed(err)
	}
	words := strings.Fields(line)
	if len(words) != 3 {
		return nil, 0, fmt.Errorf("%s: %w", id, ErrNoObject)
	}
	if size, err = strconv.ParseInt(words[2], 10, 64); err != nil || size < 0 {
		return nil, 0, r.failed(fmt.Errorf("cat-file says %q", line))
	}
	r.left = size + 1
	if words[1] != kind {
		return nil, 0, fmt.Errorf("%s is a %s, not a %s", id, words[1], kind)
	}
	return io.LimitReader(&counted{r}, size), size, nil
}

func (r *Reader) failed(err error) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return &FailedError{Command: "git cat-file", Text: strings.TrimSpace(r.stderr.String()), Err: err}
}

// counted takes what is read off what is left of the object.
type counted struct{ r *Reader }

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.out.Read(b)
	c.r.left -= int64(n)
	return n, err
}

// TreeEntry is one name of a git tree.
type TreeEntry struct {
	Mode, Name, ID string // mode as git has it: 40000, 100644, 100755, 120000, 160000
}

// maxTree bounds a tree object in bytes: a million names.
const maxTree = 64 << 20

// Tree reads one directory.
func (r *Reader) Tree(id string) (list []TreeEntry, err error) {
	content, size, err := r.Object(id, "tree")
	if err != nil {
		return nil, err
	}
	if size > maxTree {
		return nil, fmt.Errorf("the tree %s has %d bytes", id, size)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, r.failed(err)
	}
	raw := len(id) / 2
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < raw {
			return nil, fmt.Errorf("the tree %s is damaged", id)
		}
		list = append(list, TreeEntry{Mode: string(mode), Name: string(name), ID: hex.EncodeToString(rest[:raw])})
		data = rest[raw:]
	}
	return list, nil
}

// Written is a commit that is read.
type Written struct {
	ID, Tree, Message string
	Time              time.Time // the author's
}

// Commits lists those that revisions reach, the oldest first: none comes before its parents. Revisions
// are not options, but for --all. Errors: *MissingError, *FailedError.
func Commits(ctx context.Context, dir string, revisions ...string) (list []Written, err error) {
	args := []string{"log", "--topo-order", "--reverse", "--no-show-signature", "--no-color", "-z", "--format=%H %T %at%n%B"}
	for _, r := range revisions {
		if strings.HasPrefix(r, "-") && r != "--all" {
			return nil, fmt.Errorf("%q is not a revision", r)
		}
		args = append(args, r)
	}
	out, err := Output(ctx, dir, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	for text := range strings.SplitSeq(string(out), "\x00") {
		if text == "" {
			continue
		}
		head, message, _ := strings.Cut(text, "\n")
		words := strings.Fields(head)
		if len(words) != 3 {
			return nil, fmt.Errorf("git log says %q", head)
		}
		at, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log says %q", head)
		}
		list = append(list, Written{ID: words[0], Tree: words[1], Time: time.Unix(at, 0).UTC(), Message: strings.TrimSpace(message)})
	}
	return list, nil
}

// Tags are the names of the tags that point at commits, by the commit, in the order of their names.
func Tags(ctx context.Context, dir string) (map[string][]string, error) {
	out, err := Output(ctx, dir, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", "refs/tags")
	if err != nil {
		return nil, err
	}
	tags := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("git for-each-ref says %q", line)
		}
		of := words[0]
		if words[1] != "" {
			of = words[1] // what an annotated tag is about
		}
		tags[of] = append(tags[of], strings.TrimPrefix(words[2], "refs/tags/"))
	}
	return tags, nil
}
