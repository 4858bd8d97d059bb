package conversation

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// Pages of every client's conversation, read from the end, are the whole: every prompt, every call with
// its answer, in order, each once.
func TestTalkOfClients(t *testing.T) {
	files, err := filepath.Glob("../transcript/testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(filepath.Base(file), "fork-")
		agent, _, _ := strings.Cut(name, "-")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			x, err := transcript.Read(transcript.Agent(agent), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			lines, err := x.Along(x.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			read := func(o TalkOptions) ([]Message, bool) {
				all, earlier, err := talkOf(bytes.NewReader(data), x, lines, o)
				if err != nil {
					t.Fatal(err)
				}
				return all, earlier
			}
			whole, earlier := read(TalkOptions{})
			if len(whole) == 0 || earlier {
				t.Fatalf("%d messages, earlier %v", len(whole), earlier)
			}
			prompts, err := x.Prompts(x.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			said := 0
			for _, m := range whole {
				if m.Prompt {
					said++
				}
			}
			if said != len(prompts) {
				t.Errorf("%d prompts are said, the conversation has %d", said, len(prompts))
			}
			var pages []Message
			for before := 0; ; {
				page, earlier := read(TalkOptions{Before: before, Limit: 3})
				pages = append(page, pages...)
				if !earlier {
					break
				}
				before = page[0].At
			}
			if fmt.Sprint(pages) != fmt.Sprint(whole) {
				t.Errorf("pages are not the whole:\n%v\n%v", pages, whole)
			}
			short, _ := read(TalkOptions{MaxText: 2})
			for _, m := range short {
				for _, p := range m.Parts {
					if len(p.Text) > 2 {
						t.Errorf("a text of %d bytes", len(p.Text))
					}
				}
			}
		})
	}
}
