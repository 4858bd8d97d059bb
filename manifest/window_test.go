package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func someWindows() []Window {
	open := Window{Time: at(5), Agent: "claude", Session: "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", PromptID: "p", Call: "toolu_01", Tool: "Bash", Summary: "make > out",
		Class: WindowShell, Edge: WindowOpen, Files: []string{"out", "d/\xff\n"}, Background: true}
	shut := open
	shut.Time, shut.Edge = at(4), WindowClose // a clock that was set back
	return []Window{open, shut, {Session: "0B8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", Subagent: "abcd", Edge: WindowStop}}
}

func TestWindowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
			text := func(what string) string {
				return rapid.OneOf(rapid.SampledFrom([]string{"", "a", "abcd", "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11"}), texts()).Draw(t, what)
			}
			return Window{Time: times().Draw(t, "time"), Agent: text("agent"), Session: text("session"), Subagent: text("subagent"), PromptID: text("prompt"),
				Call: text("call"), Tool: text("tool"), Summary: text("summary"), Class: WindowClass(rapid.Byte().Draw(t, "class")), Edge: WindowEdge(rapid.Byte().Draw(t, "edge")),
				Files: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return text("file") }), 0, 3).Draw(t, "files"), Background: rapid.Bool().Draw(t, "background")}
		}), 1, 20).Draw(t, "windows")
		for i := range want {
			if len(want[i].Files) == 0 {
				want[i].Files = nil
			}
		}
		data := AppendWindows(nil, want)
		got, err := ParseWindows(string(data))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: got  %+v\nwant %+v", err, got, want)
		}
		if short, err := ParseWindows(string(data[:len(data)-1])); err == nil && len(short) == len(want) {
			t.Fatal("windows cut short read as the whole")
		}
	})
}

// What a call leaves is a few bytes more than what is its own.
func TestWindowsAreSmall(t *testing.T) {
	var windows []Window
	for i := range 50 {
		w := Window{Time: time.Unix(1_790_000_000+int64(i)*7, int64(i)*1_234_567), Agent: "claude", Session: "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", PromptID: "1b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11",
			Call: fmt.Sprintf("toolu_01A09q90qw90lq91781%04d", i), Tool: "Edit", Summary: "engine/hook/due.go", Class: WindowEdit, Edge: WindowOpen, Files: []string{"engine/hook/due.go"}}
		shut := w
		shut.Time, shut.Edge = w.Time.Add(20*time.Millisecond), WindowClose
		windows = append(windows, w, shut)
	}
	if n := len(AppendWindows(nil, windows)); n > 100*35 {
		t.Errorf("100 windows take %d bytes", n)
	}
}

func TestParseWindowsRefuses(t *testing.T) {
	good := string(AppendWindows(nil, []Window{{Session: "ab", Agent: "xy"}}))
	for what, data := range map[string]string{
		"no windows":             "\x01",
		"an unknown form":        "\x02" + good[1:],
		"bytes behind":           good + "\x00",
		"a text from nowhere":    "\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00",
		"a text twice":           "\x01\x00\x00\x01\x02\x00x\x01\x02\x00x\x00\x00\x00\x00\x00\x00",
		"an empty text":          "\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00",
		"raw hex":                "\x01\x00\x00\x01\x03\x00ab\x00\x00\x00\x00\x00\x00\x00",
		"more files than bytes":  "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f",
		"a head of unknown bits": "\x01\x00\x80\x80\x08\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		var f *FormatError
		if w, err := ParseWindows(data); !errors.As(err, &f) {
			t.Errorf("%s: got %+v, %v, want a FormatError", what, w, err)
		}
	}
}

func TestChangedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.StringMatching(`[a-c/.-]{1,6}`), rapid.SampledFrom([]string{"d/\xff", "d", "d/a", "d.a"})), 1, 30, rapid.ID[string]).Draw(t, "paths")
		slices.SortFunc(names, func(a, b string) int {
			return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
		})
		var want []Changed
		for _, n := range names {
			want = append(want, Changed{n, times().Draw(t, "time")})
		}
		data := AppendChanged(nil, want)
		got, err := ParseChanged(string(data))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: got  %+v\nwant %+v", err, got, want)
		}
	})
}

func TestChangedBounds(t *testing.T) {
	many := make([]Changed, MaxChanged+1)
	for i := range many {
		many[i] = Changed{fmt.Sprintf("d/%06d", i), at(i)}
	}
	if data := AppendChanged(nil, many); len(data) != 0 {
		t.Errorf("%d paths are kept", len(many))
	}
	if got, err := ParseChanged(string(AppendChanged(nil, many[1:]))); err != nil || len(got) != MaxChanged {
		t.Errorf("%d paths, %v", len(got), err)
	}
	one := string(AppendChanged(nil, []Changed{{"b", at(0)}}))
	for what, data := range map[string]string{
		"no path":         "\x01",
		"an unknown form": "\x02" + one[1:],
		"out of order":    one + "\x00\x01a\x00",
		"a path twice":    one + "\x01\x00\x00",
		"an empty path":   "\x01\x00\x00\x00",
		"prefix unused":   one + "\x00\x02bb\x00",
		"prefix too long": "\x01\x01\x01a\x00",
		"cut short":       one[:len(one)-1],
	} {
		var f *FormatError
		if c, err := ParseChanged(data); !errors.As(err, &f) {
			t.Errorf("%s: got %+v, %v, want a FormatError", what, c, err)
		}
	}
}

func FuzzParseWindows(f *testing.F) {
	f.Add(string(AppendWindows(nil, someWindows())))
	f.Add(string(AppendChanged(nil, []Changed{{"a/b", at(1)}, {"a/c", at(0)}})))
	f.Fuzz(func(t *testing.T, data string) {
		if w, err := ParseWindows(data); err == nil {
			if again := AppendWindows(nil, w); string(again) != data {
				t.Errorf("windows %x become %x", data, again)
			}
		}
		if c, err := ParseChanged(data); err == nil {
			if again := AppendChanged(nil, c); string(again) != data {
				t.Errorf("changed paths %x become %x", data, again)
			}
		}
	})
}
