package hookio

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// What holds for every agent, those to come included.
func TestEveryAgent(t *testing.T) {
	names := map[string]Agent{}
	variables := map[string]Agent{}
	if all := Agents(); all[len(all)-1] != Generic {
		t.Errorf("%q is asked after the one that is anything else", all[len(all)-1])
	}
	for _, a := range adapters {
		t.Run(string(a.agent), func(t *testing.T) {
			if a.agent.adapter() != a || a.title == "" || a.agent.Title() != a.title {
				t.Errorf("not found by its name, or without a title %q", a.title)
			}
			for _, name := range append([]string{string(a.agent), strings.ToUpper(string(a.agent))}, a.aliases...) {
				if agent, action := Args([]string{name}); agent != a.agent || action != "" {
					t.Errorf("rewind hook %s: %q, %q", name, agent, action)
				}
				if eventNamed(a.agent, name).kind != Ignored {
					t.Errorf("%q is an event too", name)
				}
				if other, ok := names[name]; ok && other != a.agent {
					t.Errorf("%q is %s's name too", name, other)
				}
				names[name] = a.agent
			}
			if other, ok := variables[a.variable]; ok && a.variable != "" {
				t.Errorf("%s tells of %s too", a.variable, other)
			}
			variables[a.variable] = a.agent
			if a.foreign && a.variable == "" {
				t.Error("it cannot be told from those whose hooks it runs")
			}
			checkWords(t, a)
		})
	}
}

// checkWords looks at the words of one agent: each is as the table compares it,
// and what others understand is not taken from them.
func checkWords(t *testing.T, a *adapter) {
	t.Helper()
	plain := func(word string) {
		if word == "" || squash(word) != word {
			t.Errorf("%q can never match", word)
		}
	}
	for _, e := range a.events {
		plain(e.name)
		if got := eventNamed(a.agent, e.name); got != e {
			t.Errorf("%s: %v, want %v", e.name, got, e)
		}
		if _, isAgent := agentNamed(e.name); isAgent {
			t.Errorf("the event %q is an agent", e.name)
		}
	}
	for class, words := range map[Class][]string{Edit: a.tools.edit, Shell: a.tools.shell, Subagent: a.tools.subagent, Read: a.tools.read} {
		for _, word := range words {
			plain(word)
			if got := classOf(a.agent, word); got != class {
				t.Errorf("the tool %s is %q, want %q", word, got, class)
			}
		}
	}
	for _, m := range a.members {
		if _, again := memberNamed(m.ours); again {
			t.Errorf("%q is translated twice", m.ours)
		}
		// A word that the decoder does not know would be read for ever.
		d := payloadDecoder{Scanner: jsonscan.Stream(strings.NewReader(`"x"`))}
		d.member(m.theirs)
		if d.Err() != nil {
			t.Errorf("%q: %v", m.theirs, d.Err())
		}
	}
}

// The signs of an agent, from the one that counts most.
func TestDetectEveryAgent(t *testing.T) {
	const uuid = "e115439b-0c4e-4b52-8b4a-0b7f3a5a9d10"
	files := map[Agent]string{
		Claude:  "/h/.claude/projects/-srv-p/" + uuid + ".jsonl",
		Droid:   "/h/.factory/sessions/-srv-p/" + uuid + ".jsonl",
		Codex:   "/h/.codex/sessions/2026/11/20/rollout-2026-11-20T20-29-18-" + uuid + ".jsonl",
		Gemini:  "/h/.gemini/tmp/p/chats/session-2026-11-20T20-29-e115439b.jsonl",
		Qwen:    "/h/.qwen/projects/-srv-p/chats/" + uuid + ".jsonl",
		Copilot: "/h/.copilot/session-state/" + uuid + "/events.jsonl",
		Cursor:  "/h/.cursor/projects/srv-p/agent-transcripts/" + uuid + ".jsonl",
		Pi:      "/h/.pi/agent/sessions/--srv-p--/2026-11-20T20-29-18-362Z_" + uuid + ".jsonl",
	}
	all := func(string) string { return "1" } // every variable is set
	for _, a := range adapters {
		file := files[a.agent]
		if (file != "") != (a.transcript != nil) {
			t.Errorf("%s: a path to try is missing here, or a shape there", a.agent)
			continue
		}
		for other, shape := range files {
			if a.transcript != nil && other != a.agent && a.transcript(shape) && detect(shape, "", noEnv) != other {
				t.Errorf("%s is taken for %s's", shape, a.agent)
			}
		}
		if file == "" {
			continue
		}
		for _, path := range []string{file, strings.ReplaceAll("C:"+file, "/", `\`)} {
			if got := detect(path, Generic, all); got != a.agent {
				t.Errorf("%s: %q", path, got)
			}
		}
	}
	for i, a := range adapters {
		if a.variable == "" {
			continue
		}
		// With those of all that come after it, as when it was started from their shells.
		later := map[string]string{}
		for _, other := range adapters[i:] {
			if !other.foreign || other == a {
				later[other.variable] = "1"
			}
		}
		if got := detect("", "", func(name string) string { return later[name] }); got != a.agent {
			t.Errorf("%s: %q", a.variable, got)
		}
		named := Claude
		if a.agent == Claude {
			named = Droid
		}
		want := named
		if a.foreign {
			want = a.agent
		}
		if got := detect("", named, env(a.variable, "1")); got != want {
			t.Errorf("%s against a line registered for %s: %q, want %q", a.variable, named, got, want)
		}
	}
	if got := detect("", "", env("CODEX_HOME", "/h/.codex", "CLAUDECODE", "1")); got != Claude {
		t.Errorf("a variable that people set themselves counts more than one of a running agent: %q", got)
	}
	if q, g := slices.Index(Agents(), Qwen), slices.Index(Agents(), Gemini); q > g {
		t.Error("Qwen Code sets Gemini CLI's variables and is asked after it")
	}
}

// Each hook pays for what runs at start: all tables are laid out by the compiler.
func TestNothingRunsAtStart(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("counting coverage does")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "init ") {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.HasPrefix(line, "init ") && strings.Contains(line, "/hookio @") {
			t.Errorf("something runs: %s", line)
		}
	}
}
