package project

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/manifest"
)

// ReachedName is a file beside the packs in the mirror that is no hard link: what is done to the store's files in place, such as
// a backup that is copied over them, is not done to it. It has a line for each write: the sequence number that the log
// ended with, the checkpoints that were saved, with their times, and those that were pinned (+), unpinned (~) and deleted (-). A
// line ends with a full stop; one without was not written to its end.
const ReachedName = "reached"

// maxReached bounds the file; half of it stays then.
const maxReached = 256 << 10

// Saved is a checkpoint of which the account knows that it was saved.
type Saved struct {
	ID   manifest.CheckpointID
	Time time.Time
	Seq  uint64 // that the log ended with then

	Pinned bool
}

func (s Saved) String() string {
	text := s.ID.String() + " (" + s.Time.Local().Format(time.DateTime)
	if s.Pinned {
		text += ", pinned"
	}
	return text + ")"
}

// reachedFile is where it lies; "" where there is no mirror, or where a power cut may take the log's end and leave the file.
func (p *Project) reachedFile() string {
	mirror := account.MirrorDir(p.Env, p.ID)
	if p.Copied || mirror == "" || p.settings.Durability == "fast" || !account.IsDir(mirror) {
		return ""
	}
	return filepath.Join(mirror, ReachedName)
}

// NoteReached adds what was committed. It is called under the append lock. If it cannot be written, the file
// knows less.
func (p *Project) NoteReached(at cas.Position, records []manifest.Record) {
	file := p.reachedFile()
	if file == "" {
		return
	}
	line := fmt.Appendf(nil, "\n%d", at.Seq)
	for _, r := range records {
		switch {
		case r.Checkpoint != nil:
			line = fmt.Appendf(line, " %s:%d", r.Checkpoint.ID, r.Checkpoint.Time.Unix())
			if r.Checkpoint.Pinned {
				line = fmt.Appendf(line, " +%s", r.Checkpoint.ID)
			}
		case r.Mark != nil && r.Mark.Pinned != nil:
			sign := map[bool]string{true: "+", false: "~"}[*r.Mark.Pinned]
			line = fmt.Appendf(line, " %s%s", sign, r.Mark.Checkpoint)
		case r.Delete != nil:
			for _, id := range r.Delete.Checkpoints {
				line = fmt.Appendf(line, " -%s", id)
			}
		}
	}
	line = append(line, " ."...)
	first := at.Seq - uint64(len(records)) + 1
	last, size := lastReached(file)
	if last < first && size+int64(len(line)) <= maxReached {
		if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|vfs.NoFollow|vfs.NoWait, 0o600); err == nil {
			_, _ = f.Write(line)
			_ = f.Close()
		}
		return
	}
	_ = rewriteReached(file, first-1, line, account.OwnerOf(p.Env.Home))
}

// ReachedLess notes that the log has ended with another number before, and nothing is lost by that.
func (p *Project) ReachedLess() error {
	last, err := p.Store.Last()
	if err != nil {
		return err
	}
	return p.trimReached(last.Seq)
}

// trimReached removes the entries of numbers behind last.
func (p *Project) trimReached(last uint64) error {
	file := p.reachedFile()
	if seq, _ := lastReached(file); file == "" || seq <= last {
		return nil
	}
	return rewriteReached(file, last, fmt.Appendf(nil, "\n%d .", last), account.OwnerOf(p.Env.Home))
}

// rewriteReached keeps the newest lines up to last, and adds one.
func rewriteReached(file string, last uint64, line []byte, owner func(string) error) error {
	data, _ := vfs.ReadSmall(file, 2*maxReached, vfs.NoFollow) // what cannot be read is lost
	if len(data) > maxReached/2 {
		_, data, _ = bytes.Cut(data[len(data)-maxReached/2:], []byte("\n"))
	}
	var kept []byte
	for text := range bytes.Lines(data) {
		if l, ok := parseReached(string(text)); ok && l.seq <= last {
			kept = append(append(kept, '\n'), bytes.TrimSpace(text)...)
		}
	}
	return account.WriteCache(file, append(kept, line...), owner)
}

// lastReached reads the number in the last line, and the size of the file.
func lastReached(file string) (seq uint64, size int64) {
	f, err := os.OpenFile(file, os.O_RDONLY|vfs.NoFollow|vfs.NoWait, 0)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, 0
	}
	for window := int64(4 << 10); ; window = maxReached * 2 {
		from := max(0, info.Size()-window)
		tail, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
		if err != nil {
			return 0, info.Size()
		}
		if from > 0 {
			_, tail, _ = bytes.Cut(tail, []byte("\n")) // of the first line, only the end was read
		}
		for text := range bytes.Lines(tail) {
			if l, ok := parseReached(string(text)); ok {
				seq = l.seq
			}
		}
		if seq != 0 || from == 0 || window > maxReached {
			return seq, info.Size()
		}
	}
}

type reachedLine struct {
	seq   uint64
	saved []Saved
	marks []reachedMark
}

// reachedMark is what a line says of a checkpoint that an earlier one may have.
type reachedMark struct {
	sign byte
	id   manifest.CheckpointID
}

// parseReached reads a line. What a later version may have added is skipped.
func parseReached(text string) (l reachedLine, ok bool) {
	words := strings.Fields(text)
	if len(words) < 2 || words[len(words)-1] != "." {
		return l, false
	}
	var err error
	if l.seq, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return l, false
	}
	for _, word := range words[1 : len(words)-1] {
		if id, err := manifest.ParseCheckpointID(word[1:]); err == nil {
			l.marks = append(l.marks, reachedMark{word[0], id})
			continue
		}
		name, unix, _ := strings.Cut(word, ":")
		id, err := manifest.ParseCheckpointID(name)
		seconds, terr := strconv.ParseInt(unix, 10, 64)
		if err == nil && terr == nil {
			l.saved = append(l.saved, Saved{ID: id, Time: time.Unix(seconds, 0), Seq: l.seq})
		}
	}
	return l, true
}

// Saved lists the newest checkpoints that the account knows of, oldest first, without those that were deleted.
func (p *Project) Saved() (all []Saved) {
	file := p.reachedFile()
	if file == "" {
		return nil
	}
	data, err := vfs.ReadSmall(file, 2*maxReached, vfs.NoFollow)
	if err != nil {
		return nil
	}
	gone, pinned := map[manifest.CheckpointID]bool{}, map[manifest.CheckpointID]bool{}
	for text := range strings.Lines(string(data)) {
		if l, ok := parseReached(text); ok {
			all = append(all, l.saved...)
			for _, m := range l.marks {
				switch m.sign {
				case '-':
					gone[m.id] = true
				case '+', '~':
					pinned[m.id] = m.sign == '+'
				}
			}
		}
	}
	for i := range all {
		all[i].Pinned = pinned[all[i].ID]
	}
	return slices.DeleteFunc(all, func(s Saved) bool { return gone[s.ID] })
}

// reached is the highest sequence number that the log is known to have had.
func (p *Project) reached() uint64 {
	file := p.reachedFile()
	if file == "" {
		return 0
	}
	if seq, size := lastReached(file); size > 0 {
		return seq
	}
	return p.cached()
}

// cached is the sequence number of the commit that the stat cache relies on: the cache is only written when that is durable.
// That of a copied store counts for nothing: it may be the same file as the original's (cp -al), which names newer commits.
func (p *Project) cached() uint64 {
	if p.Copied {
		return 0
	}
	cache, err := scan.LoadCache(p.StatCacheFile())
	if err != nil || cache == nil {
		return 0 // it can be lost at any time
	}
	return ReadStamp(cache.Stamp()).At.Seq
}
