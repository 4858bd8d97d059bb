package maintain

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// minForgetText is the shortest literal text, in bytes, that is forgotten: a shorter one is everywhere.
const minForgetText = 4

// ForgetText marks a text out of all that the store holds of conversations: transcripts and the
// files beside them, prompts, descriptions, and plain copies of transcripts. pattern is a
// literal text, or a regular expression (RE2). A mark has the length of what it replaces,
// so that forks still load. The agents' own files stay; those that hold it are in
// Still. Errors: *RefusedError for a text that is too short, and those of Forget.
func ForgetText(ctx context.Context, p *project.Project, pattern string, isRegexp bool) (*Forgotten, error) {
	if !isRegexp {
		if len(pattern) < minForgetText {
			return nil, &project.RefusedError{What: "the text is too short: it needs at least 4 bytes", Next: "use a longer one"}
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if re.MatchString("") {
		return nil, &project.RefusedError{What: "the pattern matches the empty string", Next: "use a longer one"}
	}
	return forget(ctx, p, func(tx *commit.Tx, _ *LogState) (amender, error) {
		f := &textForgetter{p: p, tx: tx, mark: textMark{re}, files: map[string]bool{}, sessions: map[[2]string]bool{}}
		f.writer = tx.Writer()
		f.redactor = transcript.Redactor{Store: conversation.StoreIn(ctx, tx.Get, f.writer), Redact: f.mark.lines}
		return f, nil
	})
}

type textForgetter struct {
	p        *project.Project
	tx       *commit.Tx
	mark     textMark
	writer   *cas.Writer
	redactor transcript.Redactor
	texts    int             // places in records
	files    map[string]bool // the agents' own
	sessions map[[2]string]bool
	were     []oid.ID // conversations that held it
}

func (f *textForgetter) checkpoint(ctx context.Context, c *manifest.Checkpoint) (bool, error) {
	changed := false
	for _, s := range []*string{&c.Prompt, &c.Description, &c.ToolSummary} {
		b := []byte(*s)
		if n := f.mark.text(b, 0); n > 0 {
			*s, changed = string(b), true
			f.texts += n
		}
	}
	if windows := rewriteWindows(c.Windows, f.window); windows != c.Windows {
		c.Windows, changed = windows, true
	}
	if c.Transcript == nil {
		return changed, ctx.Err()
	}
	f.files[c.Transcript.Path] = true
	f.sessions[[2]string{c.Agent, c.Session}] = true
	id, err := f.redactor.Conversation(c.Transcript.Content)
	if err != nil {
		return false, err
	}
	if id != c.Transcript.Content {
		f.were = append(f.were, c.Transcript.Content)
		place := *c.Transcript
		place.Content = id
		c.Transcript, changed = &place, true
	}
	return changed, ctx.Err()
}

// operation: what was typed is marked, and the plain copy that it would put back, so what it expects of that is other bytes.
func (f *textForgetter) operation(ctx context.Context, o *manifest.Operation) (bool, error) {
	typed := []byte(o.Args)
	n := f.mark.text(typed, 0)
	if n > 0 {
		o.Args = string(typed)
		f.texts += n
	}
	changed, err := f.moved(o)
	return changed || n > 0, err
}

// touch: it says nothing but paths.
func (f *textForgetter) touch(*manifest.Touch) bool { return false }

func (f *textForgetter) moved(o *manifest.Operation) (bool, error) {
	list, err := f.p.ReadObject(o.Paths)
	if err != nil {
		return false, err
	}
	line, err := conversation.ParseMoved(list)
	if err != nil || line == nil {
		return false, err
	}
	changed := false
	for i := range line.Files {
		m := &line.Files[i]
		if m.Backup == "" || m.Before == nil {
			continue
		}
		n, err := f.file(conversation.StoreFile(f.p, m.Backup))
		if err != nil {
			return false, err
		}
		if n == 0 {
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
		if bytes.Contains(raw, []byte(`"action":"`+conversation.MovedAction+`"`)) {
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

// file marks a small file of ours in place: a crash leaves the old or the new one.
func (f *textForgetter) file(name string) (int, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n := f.mark.lines(data)
	if n == 0 {
		return 0, nil
	}
	f.texts += n
	return n, account.WriteFile(name, data, f.p.Owner)
}

// wanted is the conversations as they were, and the text itself in what checkpoints say.
func (f *textForgetter) wanted() (ids []oid.ID, says func(manifest.Record) bool) {
	return f.were, func(r manifest.Record) bool {
		var texts []string
		switch {
		case r.Checkpoint != nil:
			texts = []string{r.Checkpoint.Prompt, r.Checkpoint.Description, r.Checkpoint.ToolSummary}
			if f.windowsSay(r.Checkpoint.Windows) {
				return true
			}
		case r.Operation != nil:
			texts = []string{r.Operation.Args}
		}
		return slices.ContainsFunc(texts, func(s string) bool { return f.mark.text([]byte(s), 0) > 0 })
	}
}

func (f *textForgetter) finish(_ context.Context, _ *LogState, result *Forgotten) error {
	if err := f.writer.Flush(); err != nil {
		return err
	}
	result.Texts = f.texts + f.redactor.Count
	for name := range f.files {
		dir := name[:len(name)-len(filepath.Ext(name))]
		for _, file := range append([]string{name}, filesBelow(dir)...) {
			if data, err := os.ReadFile(file); err == nil && f.mark.lines(data) > 0 {
				result.Still = append(result.Still, file)
			}
		}
	}
	for _, store := range []string{f.p.StoreDir(), filepath.Join(f.p.Root(), filepath.FromSlash(account.StoreName))} {
		for _, file := range filesBelow(filepath.Join(store, project.OlderCheckpoints)) {
			if filepath.Base(file) == project.OlderTranscript && !slices.Contains(result.Still, file) && f.inCopy(file) {
				result.Still = append(result.Still, file)
			}
		}
	}
	slices.Sort(result.Still)
	return nil
}

// maxCopyLine bounds a line of a copy that is looked through: what is behind a longer one is not.
const maxCopyLine = 64 << 20

// inCopy reports whether a conversation that the older program has packed has the text.
func (f *textForgetter) inCopy(file string) bool {
	packed, err := os.Open(file)
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

// leftovers marks what hooks left, and lets the next captures go on from the log.
func (f *textForgetter) leftovers(ctx context.Context, result *Forgotten) error {
	errs := []error{rewritePending(ctx, f.p, f.window), notice.Forget(ctx, f.p, nil, true)}
	names := append(filesBelow(filepath.Join(f.p.StoreDir(), conversation.BackupName)), filesBelow(checkpoint.NotesDir(f.p))...)
	for _, name := range append(names, filepath.Join(f.p.StoreDir(), project.HookStateName)) {
		if filepath.Ext(name) == ".data" {
			continue // what a file of the tree held
		}
		_, err := f.file(name)
		errs = append(errs, err)
	}
	for s := range f.sessions {
		if file := account.SessionFile(f.p.Env, s[0], s[1]); file != "" && account.Exists(file) {
			errs = append(errs, account.UpdateSession(ctx, f.p.Env, s[0], s[1], func(now *account.SessionState) {
				now.Held = nil
				if f.mark.text([]byte(now.Prompt), 0) > 0 {
					now.Prompt = ""
				}
			}))
		}
	}
	return errors.Join(errs...)
}
