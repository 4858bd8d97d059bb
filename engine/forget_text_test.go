//go:build unix

package engine

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"rewind/manifest"
)

func (l *lab) forgetText(pattern string, isRegexp bool) *Forgotten {
	l.t.Helper()
	var done *Forgotten
	l.do(func(ctx context.Context, p *Project) (err error) {
		done, err = p.ForgetText(ctx, pattern, isRegexp)
		return err
	})
	return done
}

// heldTalk is the transcript as a checkpoint holds it.
func (l *lab) heldTalk(c manifest.Checkpoint) (text string) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *Project) error {
		r, err := p.Conversation(ctx, c)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		text = string(data)
		return err
	})
	return text
}

// TestForgetText: what was said is marked in transcripts and prompts, the agent's file is
// named and not touched, and what is said later is captured behind the marks.
func TestForgetText(t *testing.T) {
	c := newChat(t)
	c.turn("the password is "+secret, "1")
	second := c.turn("and now?", "2")
	c.turn("third", "3")
	l := c.lab
	before := c.k.bytes()
	whole := l.heldTalk(second)
	done := l.forgetText(secret, false)
	if done.Pending != "" || done.Texts == 0 || done.Checkpoints == 0 {
		t.Errorf("%+v", done)
	}
	if len(done.Still) != 1 || done.Still[0] != c.k.file {
		t.Errorf("still in %v, want the agent's file", done.Still)
	}
	if c.k.bytes() != before {
		t.Error("the agent's file was changed")
	}
	l.nowhere(secret, "after forget")
	marked := l.heldTalk(second)
	if len(marked) != len(whole) || strings.Contains(marked, secret) || !strings.Contains(marked, "[forgotten]") {
		t.Errorf("marked: %q", marked)
	}
	for line := range strings.Lines(marked) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
	l.verify()
	// The agent goes on in its file, which still has the text: only what is new is captured.
	fourth := c.turn("fourth", "4")
	c.turn("fifth", "5")
	if got := l.heldTalk(fourth); strings.Contains(got, secret) || !strings.Contains(got, "third") {
		t.Errorf("the next capture: %q", got)
	}
	l.nowhere(secret, "after the next captures")
	// What is held can be put back and read.
	if err := os.Remove(c.k.file); err != nil {
		t.Fatal(err)
	}
	got := c.restore(RestoreOptions{Checkpoint: fourth, Half: ConversationOnly})
	data, err := os.ReadFile(got.Conversation.File)
	if err != nil || strings.Contains(string(data), secret) || !strings.Contains(string(data), "and now?") {
		t.Errorf("the fork: %v %q", err, data)
	}
}

// TestTextMark: escaped once or more, as a number, across lines of plain text; JSON stays JSON of the same length.
func TestTextMark(t *testing.T) {
	for _, c := range []struct{ pattern, in, want string }{
		{"hunter2hunter2", `{"a":"x hunter2hunter2 y"}`, `{"a":"x [forgotten]*** y"}`},
		{`se"cr\et`, `{"a":"se\"cr\\et"}`, `{"a":"**********"}`},
		{`se"cret`, `{"a":"{\"k\":\"se\\\"cret\"}"}`, `{"a":"{\"k\":\"**********\"}"}`},
		{"pässword/x", `{"a":"p\u00e4ssword\/x"}`, `{"a":"[forgotten]*****"}`},
		{"a<b>c&d", `{"a":"a\u003cb\u003ec\u0026d"}`, `{"a":"[forgotten]***********"}`},
		{"😀😀😀", `{"a":"\ud83d\ude00😀\ud83d\ude00"}`, `{"a":"[forgotten]*****************"}`},
		{"12345678", `{"n":12345678,"m":1}`, `{"n":11111111,"m":1}`},
		{"line one\nline two", "x line one\nline two y\n", "x [forgotten]****** y\n"},
		{"line one\nline two", `{"a":"line one\nline two"}`, `{"a":"[forgotten]*******"}`},
		{"secretkey", `{"secretkey":1}`, `{"*********":1}`},
		{"nothing here", `{"a":"b"}`, `{"a":"b"}`},
		{`":"`, `{"a":"b"}`, `{"a":"b"}`},
	} {
		b := []byte(c.in)
		n := textMark{regexp.MustCompile(regexp.QuoteMeta(c.pattern))}.lines(b)
		if string(b) != c.want || (n > 0) != (c.in != c.want) {
			t.Errorf("%q in %s: %s (%d), want %s", c.pattern, c.in, b, n, c.want)
		}
		if json.Valid([]byte(c.in)) != json.Valid(b) {
			t.Errorf("%s is no JSON any more", b)
		}
	}
}
