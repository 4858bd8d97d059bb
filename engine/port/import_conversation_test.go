package port_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// claudeLine is one event of a conversation, n of them are one that goes on.
func claudeLine(session string, n int) string {
	role, parent := "user", "null"
	if n%2 == 0 {
		role = "assistant"
	}
	if n > 1 {
		parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n-1)
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":"%s","uuid":"00000000-0000-4000-8000-%012d","sessionId":"%s","cwd":"/srv/p","version":"2.1.50","timestamp":"2025-01-01T00:00:%02d.000Z","message":{"role":"%s","content":"said %d"}}`+"\n",
		parent, role, n, session, n%60, role, n)
}

func claudeLines(session string, n int) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(claudeLine(session, i+1))
	}
	return s.String()
}

// older makes the older program's directory of one checkpoint.
func older(t *testing.T, dir, name, at, session, said string, copied []byte) string {
	t.Helper()
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	meta := fmt.Sprintf(`{"name":%q,"timestamp":%q,"sessionId":%s,"hasTranscript":%t,"transcript":%s}`, name, at, session, copied != nil, said)
	for file, data := range map[string][]byte{
		"snapshot.tar.gz": testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Linkname: name}), "metadata.json": []byte(meta), "transcript.jsonl.gz": copied,
	} {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a copy has beyond the one before it is stored, and nothing again; an import that comes
// later goes on from there, and so does one from a file that was rewritten.
func TestImportSaidOnce(t *testing.T) {
	const session = "5db0d5f6-0000-4000-8000-00000000000a"
	l := newLab(t)
	l.Write("a", "native")
	l.Init()
	dir := filepath.Join(filepath.Dir(l.Root), "older")
	said := `{"agent":"claude","original_path":"/nowhere/` + session + `.jsonl"}`
	take := func(name string, minute int, text string) manifest.Transcript {
		t.Helper()
		older(t, dir, name, fmt.Sprintf("2025-01-01T00:%02d:00", minute), `"`+session+`"`, said, gzipped(t, text))
		var got manifest.Transcript
		l.Do(func(ctx context.Context, p *project.Project) error {
			done, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
			if err != nil {
				return err
			}
			if len(done.Added) == 0 || done.Conversations != len(done.Added) || len(done.WithoutConversation) > 0 {
				t.Fatalf("%+v", done)
			}
			got = *done.Added[len(done.Added)-1].Transcript
			return nil
		})
		return got
	}
	segments := func(c manifest.Transcript) (n int, ids []string) {
		l.Do(func(ctx context.Context, p *project.Project) error {
			data, err := p.Store.Get(nil, c.Content)
			if err != nil {
				return err
			}
			list, err := transcript.ParseList(data)
			if err != nil {
				return err
			}
			for _, e := range list.Entries {
				ids = append(ids, e.ID.String())
			}
			held, err := transcript.Open(conversation.StoreIn(ctx, p.Store.Get, nil), c.Content)
			if err == nil && held.Size != int64(c.Offset) {
				t.Errorf("%d bytes held, %d told", held.Size, c.Offset)
			}
			return err
		})
		return len(ids), ids
	}
	long := claudeLines(session, 4000)
	older(t, dir, "1", "2025-01-01T00:01:00", `"`+session+`"`, said, gzipped(t, long))
	two := take("2", 2, long+claudeLine(session, 4001))
	n, ids := segments(two)
	if n != 2 || two.EventID != "00000000-0000-4000-8000-000000004001" {
		t.Errorf("%d segments, at %s", n, two.EventID)
	}
	three := take("3", 3, long+claudeLine(session, 4001)+claudeLine(session, 4002)+`{"torn`)
	if n, more := segments(three); n != 3 || more[0] != ids[0] || more[1] != ids[1] {
		t.Errorf("a later import: %d segments", n)
	}
	cut := take("4", 4, long+claudeLine(session, 4003))
	if n, more := segments(cut); n != 2 || more[0] != ids[0] {
		t.Errorf("cut at an earlier place: %d segments", n)
	}
	if filepath.Base(cut.Path) != session+".jsonl" || strings.HasPrefix(cut.Path, "/nowhere") {
		t.Errorf("at %s", cut.Path)
	}
}

// A copy that nobody vouches for: the files are imported without it, and it is named.
func TestImportHostileCopies(t *testing.T) {
	const session = "5db0d5f6-0000-4000-8000-00000000000a"
	defer func(b int64, n int) { port.MaxCopyBytes, port.MaxCopyLines = b, n }(port.MaxCopyBytes, port.MaxCopyLines)
	port.MaxCopyBytes, port.MaxCopyLines = 100_000, 1000
	l := newLab(t)
	l.Write("a", "native")
	l.Init()
	dir := filepath.Join(filepath.Dir(l.Root), "older")
	good := claudeLines(session, 4)
	flipped := gzipped(t, claudeLines(session, 50))
	flipped[len(flipped)/2] ^= 0xff
	claude := `{"agent":"claude","original_path":"/x/` + session + `.jsonl"}`
	for name, c := range map[string]struct {
		session, said string
		data          []byte
	}{
		"good":    {`"` + session + `"`, claude, gzipped(t, good)},
		"sniffed": {`null`, `"no object"`, gzipped(t, good)},
		"empty":   {`"` + session + `"`, claude, gzipped(t, "")},
		"bomb":    {`"` + session + `"`, claude, gzipped(t, good+strings.Repeat(" ", 200_000))},
		"lines":   {`"` + session + `"`, claude, gzipped(t, good+strings.Repeat("\n", 2000))},
		"flipped": {`"` + session + `"`, claude, flipped},
		"plain":   {`"` + session + `"`, claude, []byte(good)},
		"agent":   {`"` + session + `"`, `{"agent":"../../x","original_path":"/x"}`, gzipped(t, good)},
		"nobody":  {`"../../../etc"`, `{"agent":"claude","original_path":"/etc/../x"}`, gzipped(t, strings.ReplaceAll(good, session, "../../x"))},
		"fifo":    {`"` + session + `"`, claude, gzipped(t, good)},
	} {
		at := older(t, dir, name, "2025-01-01T00:00:00", c.session, c.said, c.data)
		if name == "fifo" { // or a directory, where it may not be made
			file := filepath.Join(at, "transcript.jsonl.gz")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
		if err != nil {
			return err
		}
		unsaid := map[string]string{}
		for _, s := range done.WithoutConversation {
			unsaid[s.Name] = s.Reason
		}
		for _, c := range done.Added {
			well := c.Name == "good" || c.Name == "sniffed" || c.Name == "empty"
			if (c.Transcript != nil) != well || well == (unsaid[c.Name] != "") {
				t.Errorf("%s: %+v, %q", c.Name, c.Transcript, unsaid[c.Name])
			}
			if c.Transcript != nil && (c.Session != session || c.Transcript.Session != session || c.Agent != "claude" || strings.HasPrefix(c.Transcript.Path, "/x")) {
				t.Errorf("%s: %+v", c.Name, c.Transcript)
			}
			if c.Name == "empty" && (c.Transcript.Offset != 0 || !c.Transcript.Content.IsZero()) {
				t.Errorf("empty: %+v", c.Transcript)
			}
		}
		if len(done.Added) != 10 || len(done.WithoutConversation) != 7 || done.Conversations != 3 {
			t.Errorf("%d added, without: %q", len(done.Added), unsaid)
		}
		t.Logf("%q", unsaid)
		return nil
	})
}
