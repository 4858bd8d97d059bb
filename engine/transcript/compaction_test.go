package transcript

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A session that was resumed and compacted at once, as Claude Code 2.1.332 wrote it: the boundary's
// logical parent was never written, and the entries that it preserves stand before it.
func compacted(t *testing.T) (data []byte, kept []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/claude-2.1.332-compacted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return data, []string{"7df0ba6f-09d6-4d06-bb2e-85153796e0de", "771325a4-9050-43d9-82f1-80e22dd0b221"}
}

func TestPromptsBeforeACompaction(t *testing.T) {
	data, _ := compacted(t)
	x := mustRead(t, Claude, data)
	if got := texts(t, x); !slices.Equal(got, []string{"first", "second", "third", "fourth", "fifth"}) {
		t.Errorf("%q", got)
	}
}

// What a cut behind a compaction keeps has the entries that the client sends behind the summary.
// A cut before it has none of the compaction.
func TestCutKeepsWhatACompactionPreserves(t *testing.T) {
	data, kept := compacted(t)
	logical, tail := []byte("42eda8cf-124f-4e32-980e-704a63d64897"), kept[1]
	segment := bytes.Replace(data, []byte(`"preservedMessages"`), []byte(`"other"`), 1)
	aside := bytes.Replace(data, logical, []byte("0248f888-41b9-4523-b013-aa745222de2f"), 1) // the end of the first turn
	for name, data := range map[string][]byte{
		"as written":                    data,
		"an older client's":             segment,
		"without a logical parent":      bytes.Replace(data, []byte(`"logicalParentUuid":"`+string(logical)+`",`), nil, 1),
		"its logical parent is there":   bytes.ReplaceAll(data, logical, []byte(tail)),
		"its logical parent is earlier": aside,
	} {
		x := mustRead(t, Claude, data)
		for n := 1; n <= 4; n++ {
			behind := n <= 2
			if !behind && name == "its logical parent is earlier" {
				break
			}
			leaf, err := x.PromptBefore(x.Leaf(), n)
			if err != nil {
				t.Errorf("%s: prompt %d: %v", name, n, err)
				break
			}
			f := &Fork{Index: x, Data: bytes.NewReader(data), File: "s.jsonl", Leaf: leaf, NewID: func() string { return forkID }, Now: func() time.Time { return forkTime }}
			lines, _ := forked(t, f)
			var place strings.Builder
			if _, err := Linear(&place, x, bytes.NewReader(data), leaf); err != nil {
				t.Fatal(err)
			}
			for how, text := range map[string]string{"fork": strings.Join(lines, "\n") + "\n", "in place": place.String()} {
				if strings.Contains(text, "compact_boundary") != behind || strings.Contains(text, "being continued") != behind {
					t.Errorf("%s, %s before prompt %d: the compaction is in it: %t", name, how, n, !behind)
				}
				y := mustRead(t, Claude, []byte(text))
				for _, id := range kept {
					if _, ok := y.byID[id]; !ok && behind {
						t.Errorf("%s, %s before prompt %d: %s is gone", name, how, n, id)
					}
				}
			}
		}
	}
}
