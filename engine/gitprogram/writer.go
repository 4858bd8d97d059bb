package gitprogram

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/patch"
)

// Writer makes a repository by git fast-import. Marks are numbers, from 1, that stand for what was
// written; each call gives the one of what it wrote.
type Writer struct {
	ctx    context.Context
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	pipe   io.WriteCloser
	out    *bufio.Writer
	mark   int
}

// Create makes a bare repository in dir, which is there and empty, with HEAD at a branch. Errors:
// *MissingError, *FailedError.
func Create(ctx context.Context, dir, branch string) (*Writer, error) {
	if _, err := Output(ctx, "", "init", "--quiet", "--bare", "--template=", dir); err != nil {
		return nil, err
	}
	if _, err := Output(ctx, dir, "symbolic-ref", "HEAD", "refs/heads/"+branch); err != nil {
		return nil, err
	}
	w := &Writer{ctx: ctx}
	var err error
	// The fastest compression: that is what a first export waits for.
	if w.cmd, w.stderr, err = command(ctx, dir, "-c", "core.compression=1", "fast-import", "--quiet", "--done"); err != nil {
		return nil, err
	}
	if w.pipe, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	w.out = bufio.NewWriterSize(w.pipe, 256<<10)
	return w, failed(ctx, w.cmd, w.stderr, w.cmd.Start())
}

// Blob writes a file's content of size bytes.
func (w *Writer) Blob(content io.Reader, size int64) (mark int, err error) {
	w.mark++
	fmt.Fprintf(w.out, "%s\nmark :%d\ndata %d\n", "blob", w.mark, size)
	n, err := io.Copy(w.out, content)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes instead of %d", n, size)
	}
	if err != nil {
		return 0, err
	}
	return w.mark, w.out.WriteByte('\n')
}

// Person is an author.
type Person struct{ Name, Email string }

// Commit is one commit; Parent is a mark, 0 for none.
type Commit struct {
	Branch  string
	Parent  int
	Author  Person
	Time    time.Time
	Message string
}

// Commit begins one: Remove and File follow, the removals first.
func (w *Writer) Commit(c Commit) (mark int, err error) {
	w.mark++
	message := strings.ReplaceAll(strings.ToValidUTF8(c.Message, "\uFFFD"), "\x00", "\uFFFD")
	if c.Parent == 0 {
		fmt.Fprintf(w.out, "reset refs/heads/%s\n", c.Branch)
	}
	fmt.Fprintf(w.out, "commit refs/heads/%s\nmark :%d\n", c.Branch, w.mark)
	for _, who := range []string{"author", "committer"} {
		fmt.Fprintf(w.out, "%s %s <%s> %d +0000\n", who, c.Author.Name, c.Author.Email, c.Time.Unix())
	}
	fmt.Fprintf(w.out, "data %d\n%s\n", len(message), message)
	if c.Parent != 0 {
		fmt.Fprintf(w.out, "from :%d\n", c.Parent)
	}
	return w.mark, nil
}

// Remove takes a path out.
func (w *Writer) Remove(path string) error {
	_, err := fmt.Fprintf(w.out, "D %s\n", patch.Quote(path))
	return err
}

// File puts a blob at a path; mode is git's: 100644, 100755, 120000.
func (w *Writer) File(mode, path string, blob int) error {
	_, err := fmt.Fprintf(w.out, "M %s :%d %s\n", mode, blob, patch.Quote(path))
	return err
}

// Tag names a commit.
func (w *Writer) Tag(name string, commit int) error {
	_, err := fmt.Fprintf(w.out, "reset refs/tags/%s\nfrom :%d\n\n", name, commit)
	return err
}

// Close ends the stream, and waits until git has written all.
func (w *Writer) Close() error {
	w.out.WriteString("done\n")
	err := w.out.Flush()
	if cerr := w.pipe.Close(); err == nil {
		err = cerr
	}
	if werr := w.cmd.Wait(); werr != nil {
		return failed(w.ctx, w.cmd, w.stderr, werr)
	}
	return err
}

// Abort ends it without a result.
func (w *Writer) Abort() {
	_ = w.cmd.Process.Kill()
	_ = w.pipe.Close()
	_ = w.cmd.Wait()
}

// TagName reports whether a text can be a tag's name, as git check-ref-format has it.
func TagName(s string) bool {
	return s != "" && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "-") && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ".lock") &&
		!strings.Contains(s, "..") && !strings.ContainsAny(s, " ~^:?*[\\/@{\x7f")
}
