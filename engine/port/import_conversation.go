package port

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Bounds of a conversation that the older program has copied. An index of its lines is kept in memory.
var (
	MaxCopyBytes = int64(512 << 20) // unpacked
	MaxCopyLines = 1_000_000
)

// olderTranscript is what the older program's metadata say of a checkpoint's conversation. Its members may be
// missing, null, or not what they should be: then nothing is known.
type olderTranscript struct {
	Agent string
	Path  string `json:"original_path"`
	Was   string `json:"path"` // as it was called first
}

// olderCopy is the copy of a conversation beside an archive, nil where there is none.
func olderCopy(dir string, told bool, session string, copied olderTranscript) func(*importing) (*manifest.Transcript, error) {
	file := filepath.Join(dir, project.OlderTranscript)
	if _, err := os.Lstat(file); err != nil && !told {
		return nil
	}
	c := conversation.Copy{Agent: copied.Agent, Session: session, Path: cmp.Or(copied.Path, copied.Was)}
	if c.Agent == "unknown" { // its own word
		c.Agent = ""
	}
	return func(im *importing) (*manifest.Transcript, error) { return im.olderTranscript(file, c) }
}

// olderTranscript unpacks a copy into a file without a name, and stores what is new of it.
func (im *importing) olderTranscript(file string, c conversation.Copy) (*manifest.Transcript, error) {
	packed, _, err := vfs.OpenRegular(file, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, skipf("it is missing")
	}
	if err != nil {
		return nil, skipf("%v", err)
	}
	defer packed.Close()
	plain, err := os.CreateTemp("", "rewind-import-*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(plain.Name()) // where an open file keeps its name
	defer plain.Close()
	_ = os.Remove(plain.Name()) // however this ends, no file with the conversation is left
	n, err := im.unpack(plain, packed)
	if err != nil {
		return nil, err
	}
	c.Data = io.NewSectionReader(plain, 0, n)
	t, err := im.conversations.Put(c)
	if strange := (*conversation.NotUnderstoodError)(nil); errors.As(err, &strange) {
		return nil, skipf("%v", strange)
	}
	return t, err
}

// unpack writes what a gzip file holds, as far as that is within bounds.
func (im *importing) unpack(to io.Writer, from io.Reader) (int64, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return 0, skipf("it is damaged: %v", err)
	}
	buf := make([]byte, 256<<10)
	total, lines := int64(0), 0
	for {
		if err := im.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := z.Read(buf)
		if total += int64(n); total > MaxCopyBytes {
			return 0, skipf("it has more than %d MiB", MaxCopyBytes>>20)
		}
		if lines += bytes.Count(buf[:n], []byte{'\n'}); lines > MaxCopyLines {
			return 0, skipf("it has more than %d lines", MaxCopyLines)
		}
		if _, werr := to.Write(buf[:n]); werr != nil {
			return 0, werr
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, skipf("it is damaged: %v", err)
		}
	}
}
