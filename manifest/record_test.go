package manifest

import (
	"bytes"
	"errors"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"

	"pgregory.net/rapid"
)

func TestCheckpointIDText(t *testing.T) {
	id := CheckpointID{0x00, 0x1f, 0xa0, 0xff, 0x12, 0x34, 0x56, 0x78}
	const want = "kklzukzzlmnopqrs"
	if got := id.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if back, err := ParseCheckpointID(want); err != nil || back != id {
		t.Errorf("parsed %v, %v", back, err)
	}
	for _, s := range []string{"", want[1:], want + "k", "KKLZUKZZLMNOPQRS", "0klzukzzlmnopqrs", "jklzukzzlmnopqrs", "\x00klzukzzlmnopqrs"} {
		var f *FormatError
		if _, err := ParseCheckpointID(s); !errors.As(err, &f) {
			t.Errorf("%q: error %v, want a FormatError", s, err)
		}
	}
}

func TestNewCheckpointID(t *testing.T) {
	zeroThenSeven := bytes.NewReader(append(make([]byte, 8), 7, 7, 7, 7, 7, 7, 7, 7))
	id, err := NewCheckpointID(zeroThenSeven)
	if err != nil || id != (CheckpointID{7, 7, 7, 7, 7, 7, 7, 7}) {
		t.Errorf("got %v, %v: the zero id names nothing, and is drawn again", id, err)
	}
	if _, err := NewCheckpointID(strings.NewReader("short")); err == nil {
		t.Error("no error without enough randomness")
	}
}

// The budget of a one-line edit has to hold this too.
func TestCheckpointRecordSize(t *testing.T) {
	manual := Record{Checkpoint: &Checkpoint{
		ID: CheckpointID{1, 2, 3, 4, 5, 6, 7, 8}, Time: at(0), Kind: Manual, Description: "before the refactoring",
		Root: oid.ID{1}, Files: 15000, Bytes: 200 << 20, Counts: Counts{Modified: 1}, Parent: CheckpointID{8, 7, 6, 5, 4, 3, 2, 1}, StoredBytes: 512,
		GitHead: "3f786850e387550fdab836ed7e6dc881de23001b", GitBranch: "main",
	}}
	if n := len(manual.Append(nil)); n > 150 {
		t.Errorf("a manual checkpoint takes %d bytes", n)
	}
	hook := *manual.Checkpoint
	hook.Kind, hook.Description, hook.Agent, hook.Tool = PreTool, "", "claude", "Bash"
	hook.Session, hook.PromptID = "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", "1b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11"
	if n := len(Record{Checkpoint: &hook}.Append(nil)); n > 190 {
		t.Errorf("a hook's checkpoint takes %d bytes", n)
	}
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{
		"0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", "0B8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", "abc", "abcd", "ABCD", "3f786850", "-",
		"0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e1", "\x00", "\x01", "#9", "manual"}))
}

func ids() *rapid.Generator[oid.ID] {
	return rapid.Custom(func(t *rapid.T) (id oid.ID) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "id"))
		return id
	})
}

func checkpointIDs() *rapid.Generator[CheckpointID] {
	return rapid.Custom(func(t *rapid.T) (id CheckpointID) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "id"))
		return id
	})
}

func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		n := rapid.Int64().Draw(t, "nanoseconds")
		if n == 0 {
			return time.Time{}
		}
		return time.Unix(0, n).UTC()
	})
}

// fill draws a value for every field of a record, so that no field is left out of the codec unseen.
func fill(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *oid.ID:
		*x = ids().Draw(t, "id")
		return
	case *CheckpointID:
		*x = checkpointIDs().Draw(t, "checkpoint")
		return
	case *time.Time:
		*x = times().Draw(t, "time")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts().Draw(t, "text"))
	case reflect.Uint8, reflect.Uint32: // of an entry, which records draws
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := 2
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if _, whole := v.Interface().(Checkpoint); name != "Seq" && !(whole && name == "Of") { // no part of the payload
				fill(t, v.Field(i))
			}
		}
	default:
		panic(v.Kind())
	}
}

func records() *rapid.Generator[Record] {
	return rapid.Custom(func(t *rapid.T) Record {
		var r Record
		field := reflect.ValueOf(&r).Elem().Field(rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 7, 8}).Draw(t, "record"))
		field.Set(reflect.New(field.Type().Elem()))
		fill(t, field.Elem())
		if d := r.Delete; d != nil {
			d.Touches = slices.Compact(slices.Sorted(slices.Values(d.Touches)))
			d.Touches = slices.DeleteFunc(d.Touches, func(seq uint64) bool { return seq == 0 })
			if len(d.Touches) == 0 {
				d.Touches = nil
			}
		}
		if r.Touch != nil && r.Touch.Entry != nil {
			r.Touch.Path = rapid.SampledFrom([]string{"a", "d/a", "d/\xff", "..."}).Draw(t, "path")
			e := rapid.SampledFrom([]Entry{
				{Kind: File, Mode: 0o644, Size: 5, ID: oid.ID{5}}, {Kind: File}, {Kind: Chunked, Mode: 0o7777, Size: 1 << 40, ID: oid.ID{6}},
				{Kind: Symlink, Target: "x/y"}, {Kind: File, Size: 1, Precious: true},
			}).Draw(t, "entry")
			e.Name = path.Base(r.Touch.Path)
			r.Touch.Entry = &e
		}
		return r
	})
}

func (r Record) value() any {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			return v.Field(i).Elem().Interface()
		}
	}
	return nil
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := records().Draw(t, "record")
		data := want.Append(nil)
		got, err := ParseRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.value(), want.value()) {
			t.Fatalf("got  %+v\nwant %+v", got.value(), want.value())
		}
		if again := got.Append(nil); !bytes.Equal(again, data) {
			t.Fatalf("%x becomes %x", data, again)
		}
		if short, err := ParseRecord(data[:len(data)-1]); err == nil && bytes.Equal(short.Append(nil), data) {
			t.Fatal("a record cut short reads as the whole")
		}
	})
}

func TestRecordTimeBeyondRange(t *testing.T) {
	for _, c := range []struct{ in, want time.Time }{
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MaxInt64).UTC()},
		{time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MinInt64).UTC()},
		{time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600)), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		r, err := ParseRecord(Record{Session: &Session{ID: "s", Time: c.in}}.Append(nil))
		if err != nil || r.Session.Time != c.want {
			t.Errorf("%v: got %v, %v, want %v", c.in, r.Session, err, c.want)
		}
	}
}

// What a newer program writes is left out, not refused.
func TestRecordFromNewerProgram(t *testing.T) {
	old := Record{Session: &Session{ID: "s", Agent: "claude"}}
	data := old.Append(nil)
	w := codec{dst: data}
	w.number(50, new(uint64(7)))
	w.eight(51, new(CheckpointID{1}))
	w.object(52, new(oid.ID{1}))
	w.text(53, new("news"))
	got, err := ParseRecord(w.dst)
	if err != nil || !reflect.DeepEqual(got.value(), old.value()) {
		t.Errorf("unknown fields: %+v, %v", got.value(), err)
	}
	w.dst[0] = 99
	if got, err := ParseRecord(w.dst); err != nil || got.value() != nil {
		t.Errorf("unknown kind of record: %+v, %v", got.value(), err)
	}
	kind := codec{dst: []byte{recordCheckpoint}}
	kind.eight(1, new(CheckpointID{1}))
	kind.number(3, new(uint64(200)))
	r, err := ParseRecord(kind.dst)
	if err != nil || r.Checkpoint.Kind != "#200" || !bytes.Equal(r.Append(nil), kind.dst) {
		t.Errorf("unknown kind of checkpoint: %+v, %v", r.value(), err)
	}
}

func TestParseRecordRefuses(t *testing.T) {
	fields := func(kind byte, write func(*codec)) []byte {
		w := codec{dst: []byte{kind}}
		write(&w)
		return w.dst
	}
	body := appendBody(appendHead(nil, &Entry{Kind: File}), &Entry{Kind: File})
	if r, err := ParseRecord(fields(recordTouch, func(w *codec) { w.text(8, new("a")); w.text(10, new(string(body))) })); err != nil {
		t.Fatal(r.value(), err)
	}
	for what, data := range map[string][]byte{
		"nothing":               {},
		"fields out of order":   fields(recordSession, func(w *codec) { w.text(2, new("a")); w.packed(1, new("s")) }),
		"field twice":           fields(recordSession, func(w *codec) { w.text(2, new("a")); w.text(2, new("a")) }),
		"field zero":            {recordSession, 3, 1, 'x'},
		"another shape":         fields(recordSession, func(w *codec) { w.number(2, new(uint64(1))) }),
		"empty text":            fields(recordSession, func(w *codec) { w.presentText(2, new("")) }),
		"text beyond the end":   {recordSession, 2<<2 | shapeText, 200, 1, 'x'},
		"text of 2^63":          {recordSession, 2<<2 | shapeText, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"zero number":           fields(recordCheckpoint, func(w *codec) { w.dst = append(w.dst, 9<<2, 0) }),
		"over-long number":      fields(recordCheckpoint, func(w *codec) { w.dst = append(w.dst, 9<<2, 0x81, 0) }),
		"raw hex":               fields(recordSession, func(w *codec) { w.presentText(1, new("\x00abcd")) }),
		"uuid cut short":        fields(recordSession, func(w *codec) { w.presentText(1, new("\x02abcd")) }),
		"known kind as text":    fields(recordCheckpoint, func(w *codec) { w.text(4, new("manual")) }),
		"kind twice":            fields(recordCheckpoint, func(w *codec) { w.number(3, new(uint64(1))); w.text(4, new("odd")) }),
		"ids cut short":         fields(recordDelete, func(w *codec) { w.text(2, new("1234567")) }),
		"roots missing":         fields(recordRewrite, func(w *codec) { w.text(2, new("12345678")) }),
		"bad transcript inside": fields(recordCheckpoint, func(w *codec) { w.presentText(27, new("\x00")) }),
		"pin of 3":              fields(recordMark, func(w *codec) { w.number(4, new(uint64(3))) }),
		"touches out of order":  fields(recordDelete, func(w *codec) { w.text(4, new("\x05\x00")) }),
		"touches beyond 2^64":   fields(recordDelete, func(w *codec) { w.text(4, new("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")) }),
		"touch without a path":  fields(recordTouch, func(w *codec) { w.text(10, new(string(body))) }),
		"touch of a directory":  fields(recordTouch, func(w *codec) { w.text(8, new("a")); w.text(10, new("\x04\x00\x00"+string(body[2:]))) }),
		"two entries":           fields(recordTouch, func(w *codec) { w.text(8, new("a")); w.text(10, new(string(body)+"x")) }),
		"touch of a name":       fields(recordTouch, func(w *codec) { w.text(8, new("a/..")); w.text(10, new(string(body))) }),
		"unknown field cut":     {recordSession, 50<<2 | shapeID, 1, 2},
	} {
		var f *FormatError
		if r, err := ParseRecord(data); !errors.As(err, &f) {
			t.Errorf("%s: got %+v, %v, want a FormatError", what, r.value(), err)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	name, pinned := "n", true
	for _, r := range []Record{
		{Checkpoint: &Checkpoint{ID: CheckpointID{1}, Time: at(1), Kind: Prompt, Root: oid.ID{1}, Session: "abcd",
			Transcript: &Transcript{Session: "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11", Offset: 5, Content: oid.ID{3}}}},
		{Mark: &Mark{Checkpoint: CheckpointID{1}, Name: &name, Pinned: &pinned}},
		{Delete: &Delete{Checkpoints: []CheckpointID{{1}, {2}}, Reason: "age"}},
		{Operation: &Operation{Kind: OpUndo, Undoes: 4, Before: oid.ID{1}}},
		{Operation: &Operation{Kind: OpUndo, After: oid.ID{1}, Below: 7}},
		{Operation: &Operation{Kind: OpUndo, After: oid.ID{1}, Some: true}},
		{Operation: &Operation{Kind: OpRestore, After: oid.ID{1}, Forgotten: "00ff00ff00ff00ff00ff00ff00ff00ff"}},
		{Operation: &Operation{Kind: OpRevert, Before: oid.ID{1}, Choices: `{"path":"a","action":"undo"}` + "\n"}},
		{Rewrite: &Rewrite{Checkpoints: []CheckpointID{{1}}, Roots: []oid.ID{{2}}}},
		{Session: &Session{ID: "s", Agent: "claude"}},
		{Checkpoint: &Checkpoint{ID: CheckpointID{2}, Windows: string(AppendWindows(nil, someWindows())), Changed: string(AppendChanged(nil, []Changed{{"a", at(1)}})), ToolSummary: "x"}},
		{Operation: &Operation{Kind: OpRevert, Choices: "a.go: keep"}},
		{Binding: &Binding{Agent: "pi", Session: "s", Entries: []string{"11bf4236", "9c7b0000"}, Checkpoint: CheckpointID{1}}},
		{Delete: &Delete{Touches: []uint64{7, 9}}},
		{Touch: &Touch{Agent: "claude", Session: "s", Path: "d/a", After: true, Entry: &Entry{Name: "a", Kind: File, Size: 3, ID: oid.ID{1}}}},
		{Touch: &Touch{Session: "s", Path: "d/a", Changed: at(3)}},
	} {
		f.Add(r.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRecord(data)
		if err != nil || r.value() == nil {
			return
		}
		// Unknown fields are left out, so the bytes may be fewer; but they are canonical then.
		first := r.Append(nil)
		if len(first) > len(data) {
			t.Errorf("%x becomes the longer %x", data, first)
		}
		again, err := ParseRecord(first)
		if err != nil {
			t.Fatalf("%x, from %x, does not parse: %v", first, data, err)
		}
		if second := again.Append(nil); !bytes.Equal(first, second) {
			t.Errorf("%x becomes %x", first, second)
		}
		if len(first) == len(data) && !bytes.Equal(first, data) {
			t.Errorf("%x is not canonical: becomes %x", data, first)
		}
	})
}
