package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A session that the person went back in with the client has several files: one session, which stands in the newest.
func TestCodexParts(t *testing.T) {
	home := t.TempDir()
	h := Home{Dir: home}
	root := filepath.Join(home, "work")
	day := filepath.Join(home, ".codex", "sessions", "2026", "11", "22")
	away := filepath.Join(home, ".codex", "archived_sessions")
	id := func(n int) string { return fmt.Sprintf("0123456%d-0000-7000-8000-00000000000%d", n, n) }
	write := func(dir, name, session, dirOf, members string) string {
		t.Helper()
		file := filepath.Join(dir, "rollout-2026-11-22T0"+name+".jsonl")
		data := rollout(true, fmt.Sprintf(`session_meta {"id":%q,"cwd":%q%s}`, session, dirOf, members))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	base := func(part string) string {
		return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":1,"end_byte_offset":7}`, part)
	}
	// A clock that was put back gives the later parts an earlier time.
	first := write(day, "3-00-00-"+id(1), id(1), root, "")
	second := write(day, "2-00-00-"+id(1)+"_"+id(2), id(1), root, base(id(1)))
	third := write(day, "1-00-00-"+id(1)+"_"+id(3), id(1), root, base(id(2)))
	write(day, "4-00-00-"+id(4), id(4), filepath.Join(home, "elsewhere"), `,"forked_from_id":"`+id(1)+`"`+base(id(3)))
	write(away, "5-00-00-"+id(5), id(5), root, `,"rewind_forked_from":{"session":"`+id(1)+`","leaf":"x"}`+base(id(2)))

	all, err := Sessions(Codex, h, root)
	if err != nil || len(all) != 1 || all[0].ID != id(1) || all[0].File != third {
		t.Errorf("%+v, %v", all, err)
	}
	for file, want := range map[string]struct {
		later string
		forks []string
	}{first: {third, nil}, second: {third, []string{id(5)}}, third: {"", []string{id(4)}}} {
		if later, forks := Later(Codex, h, file), ForksOf(Codex, h, file); later != want.later || !slices.Equal(forks, want.forks) {
			t.Errorf("%s: later %q, forks %q", filepath.Base(file), later, forks)
		}
		if got := PartFile(Codex, h, PartOf(Codex, file)); got != file {
			t.Errorf("%s is found as %q", file, got)
		}
	}
	x := firstLine(Codex, second)
	if x == nil || x.Base != (Base{id(1), 7}) || !x.Inherits(x.Leaf()) {
		t.Errorf("%+v", x)
	}
	if x := firstLine(Codex, first); x == nil || x.Base != (Base{}) || x.Inherits(x.Leaf()) {
		t.Errorf("%+v", x)
	}
}

func TestLeafWithin(t *testing.T) {
	data := rollout(true, metaRow, endRow)
	x := mustRead(t, Codex, data)
	for size, want := range map[int64]string{0: "", x.Lines[1].Offset: x.Lines[0].ID, x.Size - 1: x.Lines[0].ID, x.Size: x.Lines[1].ID, x.Size + 9: x.Lines[1].ID} {
		if got := x.LeafWithin(size); got != want || want == "" && size > 0 {
			t.Errorf("within %d: %q, want %q", size, got, want)
		}
	}
}
