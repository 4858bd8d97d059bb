package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// TestSalvagePack damages a pack at many places, of either kind of hash: git finds the new pack whole, and it has all objects but those
// that are named, of which there is at least one where the damage is not in front of the first or behind the last.
func TestSalvagePack(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		b := newBox(t)
		b.run("init", "-q", "-b", "main", "--object-format="+format)
		text := strings.Repeat("a line that stays\n", 50)
		for i := range 12 {
			b.write("a.txt", fmt.Sprint(text, i, "\n", strings.Repeat("x", i*30)))
			b.write(fmt.Sprint("d/", i), fmt.Sprint(i))
			b.commit()
		}
		b.run("repack", "-adq", "--depth=50")
		files, _ := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*.pack"))
		base := strings.TrimSuffix(files[0], ".pack")
		good, err := os.ReadFile(base + ".pack")
		if err != nil {
			t.Fatal(err)
		}
		all := lines(b.run("cat-file", "--batch-check=%(objectname)", "--batch-all-objects"), "\n")
		idSize := len(all[0]) / 2
		if err := os.Chmod(base+".pack", 0o644); err != nil {
			t.Fatal(err)
		}
		chains := 0
		for round := range 80 {
			bad := slices.Clone(good)
			at := round * len(bad) / 80
			cut := round%8 == 7
			if bad[at] ^= 0x55; cut {
				bad = bad[:at]
			}
			if err := os.WriteFile(base+".pack", bad, 0o644); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(b.home, "new.pack")
			f, err := os.Create(to)
			if err != nil {
				t.Fatal(err)
			}
			lost, kept, err := gitrepo.SalvagePack(base, idSize, f)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatalf("%s, byte %d: %v", format, at, err)
			}
			inside := at >= 12 && at < len(good)-idSize
			if kept+len(lost) != len(all) || inside && len(lost) == 0 || at < 12 && !cut && len(lost) > 0 {
				t.Fatalf("%s, byte %d of %d: %d lost and %d kept of %d", format, at, len(good), len(lost), kept, len(all))
			}
			if len(lost) > 1 && !cut {
				chains++
			}
			b.run("index-pack", "--object-format="+format, to)
			has, err := gitrepo.PackIDs(strings.TrimSuffix(to, ".pack")+".idx", idSize)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range all {
				if slices.Contains(lost, id) == strings.Contains(fmt.Sprintf("%x", has), id) {
					t.Errorf("%s, byte %d: %s is lost: %v", format, at, id, slices.Contains(lost, id))
				}
			}
			if err := os.Remove(strings.TrimSuffix(to, ".pack") + ".idx"); err != nil {
				t.Fatal(err)
			}
		}
		if chains == 0 {
			t.Error("no damage took deltas along")
		}
		if err := errors.Join(os.Chmod(base+".idx", 0o644), os.Truncate(base+".idx", 100)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := gitrepo.SalvagePack(base, idSize, &strings.Builder{}); !errors.As(err, new(*gitrepo.FormatError)) {
			t.Errorf("an index that is cut off: %v", err)
		}
	}
}
