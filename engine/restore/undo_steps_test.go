package restore_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// a life of an agent's work that operations followed, each of one kind.
type undoneLife struct {
	*testlab.Chat
	turns []manifest.Checkpoint // before each prompt
}

func newUndoneLife(t *testing.T, verbs []string) *undoneLife {
	l := &undoneLife{Chat: testlab.NewChat(t)}
	for i := 1; i <= 4; i++ {
		l.turns = append(l.turns, l.Turn(fmt.Sprint("prompt ", i), fmt.Sprint(i)))
	}
	l.SaveBy(l.Transcript.Trigger())
	for _, verb := range verbs {
		l.play(verb)
	}
	return l
}

// play runs one operation: files, fork, fork alone, in place, in place alone.
func (l *undoneLife) play(verb string) {
	l.T.Helper()
	name, to, _ := strings.Cut(verb, " ")
	o := restore.Options{Checkpoint: l.turns[int(to[0]-'1')]}
	switch name {
	case "files":
		o.Half = conversation.CodeOnly
	case "fork":
	case "talk":
		o.Half = conversation.ConversationOnly
	case "place":
		o.InPlace = true
	case "talkplace":
		o.InPlace, o.Half = true, conversation.ConversationOnly
	}
	l.Must(restore.Restore, o)
}

// state is the files and the conversations.
func (l *undoneLife) state() string {
	l.T.Helper()
	var talks []string
	for _, name := range l.SessionFiles() {
		who := "fork"
		if name == filepath.Base(l.Transcript.File) {
			who = "session"
		}
		talks = append(talks, who+": "+l.Prompts(filepath.Join(filepath.Dir(l.Transcript.File), name)))
	}
	slices.Sort(talks)
	return l.Contents() + "; " + strings.Join(talks, "; ")
}

// TestUndoOfSeveralSteps: undo N is N times undo, whatever the steps are, and redo takes it back.
func TestUndoOfSeveralSteps(t *testing.T) {
	lives := [][]string{{"files 4", "talk 4", "talk 3"}, {"talk 4", "files 4", "talk 2"}, {"place 4", "talkplace 3", "place 2"}, {"fork 4", "place 3", "files 2"}}
	for _, a := range []string{"files 4", "talk 4", "place 3", "talkplace 3"} {
		for _, b := range []string{"fork 2", "talk 2", "talkplace 2"} {
			lives = append(lives, []string{a, b})
		}
	}
	for i := 0; i < len(lives); i += testlab.Every(5) {
		t.Run(strings.Join(lives[i], ", "), func(t *testing.T) {
			t.Parallel()
			undoSeveral(t, conversation.Both, lives[i], len(lives[i]))
		})
	}
}

func undoSeveral(t *testing.T, half conversation.Half, verbs []string, n int) {
	what := fmt.Sprintf("half %d, %s, undo %d", half, strings.Join(verbs, ", "), n)
	one, all := newUndoneLife(t, verbs), newUndoneLife(t, verbs)
	at := all.state()
	if at != one.state() {
		t.Fatalf("%s: two lives differ", what)
	}
	o := restore.Options{Half: half}
	var failed error
	for range n {
		if _, failed = one.Run(restore.Undo, o); failed != nil {
			break
		}
	}
	o.Steps, o.DryRun = n, true
	dry, err := all.Run(restore.Undo, o)
	if err == nil {
		o.DryRun = false
		var done *restore.Restored
		done, err = all.Run(restore.Undo, o)
		if err == nil && (len(done.Replace) != len(dry.Replace) || (done.Conversation == nil) != (dry.Conversation == nil)) {
			t.Errorf("%s: the dry run said %+v, but it was %+v", what, dry, done)
		}
	}
	switch {
	case (err != nil) != (failed != nil):
		t.Errorf("%s: %v, one by one: %v", what, err, failed)
	case err != nil && all.state() != at:
		t.Errorf("%s: it failed (%v), and changed something: %s", what, err, all.state())
	case err != nil:
	case all.state() != one.state():
		t.Errorf("%s from\n\t%s leads to\n\t%s, one by one to\n\t%s", what, at, all.state(), one.state())
	default:
		if _, err := all.Run(restore.Redo, restore.Options{}); err != nil || all.state() != at {
			t.Errorf("%s from\n\t%s; redo of that (%v):\n\t%s", what, at, err, all.state())
		}
	}
}
