package maintain

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// textMarker marks, in place, what is to be forgotten, and counts the places: in JSON lines or plain text, and in one text
// whose escapes are undone from a level on.
type textMarker interface {
	lines(data []byte) int
	text(data []byte, level int) int
}

// conversations marks what the store holds of conversations: transcripts, the files beside them, prompts, descriptions,
// and plain copies of transcripts.
type conversations struct {
	p        *project.Project
	tx       *commit.Tx
	dry      bool
	mark     textMarker
	outside  textMarker // the same for files that are not the store's, which counts nothing
	writer   *cas.Writer
	redactor transcript.Redactor
	places   int                   // in records and in files of ours
	files    map[string]bool       // the agents' own
	forks    map[string]bool       // of these, those that a restore wrote
	were     []oid.ID              // conversations that held it
	held     map[[2]string]bool    // the sessions that had it
	unread   []manifest.Checkpoint // that something is lost of, where it may have been

	repos     []*repository
	gitStates map[oid.ID]bool // of git's own states that were searched, whether they had it
	gitGone   int             // checkpoints that lost git's own state
}

func newConversations(ctx context.Context, p *project.Project, tx *commit.Tx, log *LogState, mark textMarker, dry bool) *conversations {
	f := &conversations{p: p, tx: tx, dry: dry, mark: mark, outside: mark, files: map[string]bool{}, forks: map[string]bool{}, held: map[[2]string]bool{}, gitStates: map[oid.ID]bool{}}
	f.writer = tx.Writer()
	f.redactor = transcript.Redactor{Store: conversation.StoreIn(ctx, tx.Get, f.writer), Redact: mark.lines}
	for _, o := range log.Operations {
		if o.Fork != "" {
			f.files[o.Fork], f.forks[o.Fork] = true, true
		}
	}
	return f
}

// checkpoint marks what a checkpoint says and holds of its conversation, and reports whether there was anything.
func (f *conversations) checkpoint(ctx context.Context, c *manifest.Checkpoint) (changed bool, err error) {
	for _, s := range []*string{&c.Prompt, &c.Description} {
		changed = f.redactText(s) || changed
	}
	git, err := f.gitState(&c.Git)
	if err != nil {
		return false, err
	}
	if git {
		changed = true
		f.gitGone++
	}
	session := [2]string{c.Agent, c.Session}
	if changed && c.Session != "" {
		f.held[session] = true
	}
	if c.Transcript == nil {
		return changed, ctx.Err()
	}
	f.files[c.Transcript.Path] = true
	id, err := f.redactor.Conversation(c.Transcript.Content)
	if project.IsLost(err) {
		id, f.unread = c.Transcript.Content, append(f.unread, *c)
	} else if err != nil {
		return false, err
	}
	if id != c.Transcript.Content {
		f.were, f.held[session] = append(f.were, c.Transcript.Content), true
		place := *c.Transcript
		place.Content = id
		c.Transcript, changed = &place, true
	}
	return changed, ctx.Err()
}

// converses looks at what other stores have of the sessions that had it.
func (f *conversations) converses(ctx context.Context) func(*cas.Store, manifest.Record) bool {
	if len(f.held) == 0 {
		return nil
	}
	return f.conversesAs(ctx, func(c *manifest.Checkpoint) bool { return f.held[[2]string{c.Agent, c.Session}] })
}

// conversesAs looks at what other stores have of the conversations of some checkpoints.
func (f *conversations) conversesAs(ctx context.Context, of func(*manifest.Checkpoint) bool) func(*cas.Store, manifest.Record) bool {
	var in *cas.Store
	var read transcript.Redactor
	return func(s *cas.Store, r manifest.Record) bool {
		c := r.Checkpoint
		if c == nil || !of(c) {
			return false
		}
		if f.mark.text([]byte(c.Prompt), 0)+f.mark.text([]byte(c.Description), 0) > 0 {
			return true
		}
		if c.Transcript == nil {
			return false
		}
		if s != in {
			in, read = s, transcript.Redactor{Store: conversation.StoreIn(ctx, s.Get, s.NewMemoryBatch().Writer()), Redact: f.mark.lines}
		}
		id, err := read.Conversation(c.Transcript.Content)
		return err != nil || id != c.Transcript.Content
	}
}

// redactText replaces one text of a record by the mark.
func (f *conversations) redactText(s *string) bool {
	b := []byte(*s)
	n := f.mark.text(b, 0)
	if n > 0 {
		*s = string(b)
		f.places += n
	}
	return n > 0
}

// operation marks the plain copy that an operation would put back, so what it expects of that is other bytes.
func (f *conversations) operation(o *manifest.Operation) (changed bool, err error) {
	for _, state := range []*oid.ID{&o.GitBefore, &o.GitAfter} {
		git, err := f.gitState(state)
		if err != nil {
			return false, err
		}
		changed = changed || git
	}
	moved, err := f.moved(o)
	return changed || moved, err
}

// moved marks what an operation says of the conversation that it moved.
func (f *conversations) moved(o *manifest.Operation) (bool, error) {
	if o.Paths == (oid.ID{}) {
		return false, nil
	}
	list, err := f.tx.Get(nil, o.Paths) // it may have been written anew already
	if project.IsLost(err) {
		return false, nil
	} else if err != nil {
		return false, f.p.Classify(err)
	}
	line, err := project.ParseMoved(list)
	if err != nil || line == nil {
		return false, err
	}
	changed := false
	for i := range line.Files {
		m := &line.Files[i]
		if m.Before == nil {
			f.files[m.File], f.forks[m.File] = true, true
		}
		changed = f.redact(m) || changed
		if m.Backup == "" || m.Before == nil {
			continue
		}
		n, err := f.file(conversation.StoreFile(f.p, m.Backup))
		if err != nil {
			return false, err
		}
		if n == 0 || f.dry {
			continue
		}
		if m.Before, err = conversation.SumFile(conversation.StoreFile(f.p, m.Backup)); err != nil {
			return false, err
		}
		changed = true
	}
	if !changed {
		return false, nil
	}
	var out []byte
	for raw := range bytes.Lines(list) {
		if bytes.Contains(raw, []byte(`"action":"`+project.MovedAction+`"`)) {
			if raw, err = json.Marshal(line); err != nil {
				return false, err
			}
			raw = append(raw, '\n')
		}
		out = append(out, raw...)
	}
	o.Paths, err = f.tx.Put(out)
	return true, err
}

// redact notes which bytes of a file that a move wrote are forgotten, and reports whether any of them were not noted before.
// The file itself stays, since it is the agent's. If it is captured later, the stored copy has the marks instead.
func (f *conversations) redact(m *project.MovedFile) bool {
	if m.After == nil || f.dry {
		return false
	}
	data, err := vfs.ReadRegular(m.File, 0)
	if err != nil || int64(len(data)) < m.After.Size {
		return false // it is not what the move wrote any more
	}
	data = data[:m.After.Size]
	if hash := blake3.Sum256(data); hex.EncodeToString(hash[:]) != m.After.Sum {
		return false
	}
	for _, run := range m.Forgotten {
		copy(data[run.At:], run.Text)
	}
	marked := bytes.Clone(data)
	if f.outside.lines(marked) == 0 {
		return false
	}
	for from := 0; from < len(data); from++ {
		to := from
		for to < len(data) && marked[to] != data[to] {
			to++
		}
		if from < to {
			m.Forgotten = append(m.Forgotten, project.RedactedRun{At: int64(from), Text: string(marked[from:to])})
			from = to
		}
	}
	return true
}

// file marks a small file of ours in place: a crash leaves the old or the new one.
func (f *conversations) file(name string) (int, error) {
	data, err := vfs.ReadRegular(name, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n := f.mark.lines(data)
	f.places += n
	if n == 0 || f.dry {
		return n, nil
	}
	return n, account.WriteFile(name, data, f.p.Owner)
}

// finish counts the places, and finds the files outside of the store that hold it still.
func (f *conversations) finish(result *Forgotten) error {
	if err := f.writer.Flush(); err != nil {
		return err
	}
	result.GitStates = f.gitGone
	result.Texts = f.places + f.redactor.Count
	result.Unread = slices.CompactFunc(f.unread, func(a, b manifest.Checkpoint) bool { return a.ID == b.ID })
	still := map[string]bool{}
	for name := range f.files {
		dir := name[:len(name)-len(filepath.Ext(name))]
		for _, file := range append([]string{name}, filesBelow(dir)...) {
			data, err := vfs.ReadRegular(file, 0)
			if err != nil || f.outside.lines(data) == 0 {
				continue
			}
			still[file] = true
			if f.forks[name] && file == name {
				result.Forks = append(result.Forks, file)
			}
		}
	}
	for _, store := range []string{f.p.StoreDir(), filepath.Join(f.p.Root(), filepath.FromSlash(account.StoreName))} {
		for _, file := range filesBelow(filepath.Join(store, project.OlderCheckpoints)) {
			if filepath.Base(file) == project.OlderTranscript && !still[file] && f.inCopy(file) {
				still[file] = true
			}
		}
	}
	result.Still = slices.Sorted(maps.Keys(still))
	slices.Sort(result.Forks)
	return nil
}

// maxCopyLine bounds a line of a copy that is looked through: what is behind a longer one is not.
const maxCopyLine = 64 << 20

// inCopy reports whether a conversation that the older program has packed has the text.
func (f *conversations) inCopy(file string) bool {
	packed, _, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return false // what cannot be read is not named
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxCopyLine)
	for lines.Scan() {
		if f.mark.lines(lines.Bytes()) > 0 {
			return true
		}
	}
	_ = lines.Err() // what cannot be read is not named
	return false
}

func filesBelow(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return nil // what cannot be read is not named
	})
	return files
}

// leftovers marks what hooks left, removes the temporary copies of transcripts that processes left which are no more, and
// lets the next captures go on from the log.
func (f *conversations) leftovers(ctx context.Context) error {
	for file := range f.files {
		transcript.RemoveLeft(file)
	}
	var errs []error
	names := append(filesBelow(filepath.Join(f.p.StoreDir(), conversation.BackupName)), filesBelow(checkpoint.NotesDir(f.p))...)
	for _, name := range append(names, filepath.Join(f.p.StoreDir(), project.HookStateName)) {
		if filepath.Ext(name) == ".data" {
			continue // what a file of the tree held
		}
		_, err := f.file(name)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, account.ForgetHeld(ctx, f.p.Env, f.p.ID.String()))...)
}
