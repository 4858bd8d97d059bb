package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// What a record is: its first byte.
const (
	recordCheckpoint = 1
	recordMark       = 2
	recordDelete     = 3
	recordOperation  = 4
	recordRewrite    = 5
	recordSession    = 6
	recordAmend      = 7
	recordBinding    = 8
	recordTouch      = 9
)

// Kinds are a number in the log: their place here, from 1. New ones go to the end.
var (
	checkpointKinds = []CheckpointKind{Manual, Prompt, PreTool, PostTool, SessionStart, Stop, SessionEnd, Safety}
	operationKinds  = []OperationKind{OpRestore, OpUndo, OpUndoRestore, OpRedoRestore, OpGC, OpForget, OpRepair, OpRevert}
)

// Append appends the record's canonical bytes. A record with no field set
// appends nothing, which ParseRecord refuses.
func (r Record) Append(dst []byte) []byte {
	number := r.number()
	if number == 0 {
		return dst
	}
	w := fieldWriter{dst: append(dst, number)}
	r.fields(codec{w: &w})
	return w.dst
}

// ParseRecord parses them. Kinds of records and fields that it does not know are left
// out, not refused, so that an older program reads a newer log of the same format version: a record
// of an unknown kind has no field set. Everything else that Append does not write is a *FormatError.
func ParseRecord(data []byte) (Record, error) {
	r := fieldReader{Decoder: wire.Decoder{What: "record", Data: string(data)}, taken: true}
	var rec Record
	switch r.Byte() {
	case recordCheckpoint:
		rec.Checkpoint = &Checkpoint{}
	case recordMark:
		rec.Mark = &Mark{}
	case recordDelete:
		rec.Delete = &Delete{}
	case recordOperation:
		rec.Operation = &Operation{}
	case recordRewrite:
		rec.Rewrite = &Rewrite{}
	case recordSession:
		rec.Session = &Session{}
	case recordAmend:
		rec.Amend = &Amend{}
	case recordBinding:
		rec.Binding = &Binding{}
	case recordTouch:
		rec.Touch = &Touch{}
	}
	rec.fields(codec{r: &r})
	for r.next() { // what is not known
	}
	if r.Err != nil {
		return Record{}, r.Err
	}
	return rec, nil
}

// number is what the record is, 0 for nothing.
func (r *Record) number() byte {
	switch {
	case r.Checkpoint != nil:
		return recordCheckpoint
	case r.Mark != nil:
		return recordMark
	case r.Delete != nil:
		return recordDelete
	case r.Operation != nil:
		return recordOperation
	case r.Rewrite != nil:
		return recordRewrite
	case r.Session != nil:
		return recordSession
	case r.Amend != nil:
		return recordAmend
	case r.Binding != nil:
		return recordBinding
	case r.Touch != nil:
		return recordTouch
	}
	return 0
}

func (r *Record) fields(c codec) {
	switch r.number() {
	case recordCheckpoint:
		r.Checkpoint.fields(c)
	case recordMark:
		r.Mark.fields(c)
	case recordDelete:
		c.time(1, &r.Delete.Time)
		idList(c, 2, &r.Delete.Checkpoints)
		c.text(3, &r.Delete.Reason)
		seqList(c, 4, &r.Delete.Touches)
	case recordOperation:
		r.Operation.fields(c)
	case recordRewrite:
		c.time(1, &r.Rewrite.Time)
		idList(c, 2, &r.Rewrite.Checkpoints)
		idList(c, 3, &r.Rewrite.Roots)
		if c.r != nil && len(r.Rewrite.Checkpoints) != len(r.Rewrite.Roots) {
			c.r.Fail("as many roots as checkpoints are needed")
		}
	case recordSession:
		r.Session.fields(c)
	case recordAmend:
		r.Amend.fields(c)
	case recordBinding:
		r.Binding.fields(c)
	case recordTouch:
		r.Touch.fields(c)
	}
}

// kindNumber is the number of a kind; text is the kind itself where it has none.
func kindNumber[K ~string](kinds []K, kind K) (number uint64, text string) {
	if i := slices.Index(kinds, kind); i >= 0 {
		return uint64(i + 1), ""
	}
	if digits, ok := strings.CutPrefix(string(kind), "#"); ok {
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && kindOf(kinds, n) == kind && n > 0 {
			return n, ""
		}
	}
	return 0, string(kind)
}

// kindOf is the kind of a number; that of a newer program's is "#" and the number.
func kindOf[K ~string](kinds []K, number uint64) K {
	if number-1 < uint64(len(kinds)) {
		return kinds[number-1]
	}
	return K(fmt.Sprintf("#%d", number))
}

func (m *Mark) fields(c codec) {
	c.eight(1, &m.Checkpoint)
	c.time(2, &m.Time)
	// 1 is no, 2 is yes: absence means that the pin stays as it was.
	if c.w == nil {
		if c.r.at(3) {
			name := c.r.presentText()
			m.Name = &name
		}
		if c.r.at(4) {
			v := c.r.number()
			if v > 2 {
				c.r.Fail("flag beyond 2")
			}
			pinned := v == 2
			m.Pinned = &pinned
		}
		return
	}
	if m.Name != nil {
		c.w.presentText(3, *m.Name)
	}
	if m.Pinned != nil {
		v := uint64(1)
		if *m.Pinned {
			v = 2
		}
		c.w.number(4, v)
	}
}

func (o *Operation) fields(c codec) {
	c.time(1, &o.Time)
	kind(c, 2, operationKinds, &o.Kind) // 3 too
	c.eight(4, &o.Checkpoint)
	c.eight(5, &o.Safety)
	c.object(6, &o.Before)
	c.object(7, &o.After)
	c.object(8, &o.Paths)
	c.number(9, &o.Undoes)
	c.text(10, &o.TranscriptBackup)
	c.text(11, &o.Fork)
	c.text(12, &o.Verb)
	c.packed(13, &o.Session)
	c.text(14, &o.Args)
	c.number(15, &o.Created)
	c.number(16, &o.Replaced)
	c.number(17, &o.Deleted)
	c.text(18, &o.Choices)
	c.text(19, &o.Forgotten)
	c.number(20, &o.Below)
	c.flag(21, &o.Some)
}

func (s *Session) fields(c codec) {
	c.packed(1, &s.ID)
	c.text(2, &s.Agent)
	c.text(3, &s.TranscriptPath)
	c.packed(4, &s.Parent)
	c.text(5, &s.Source)
	c.time(6, &s.Time)
}

func joinIDs[T CheckpointID | oid.ID](ids []T) string {
	var b []byte
	for _, id := range ids {
		switch id := any(id).(type) {
		case CheckpointID:
			b = append(b, id[:]...)
		case oid.ID:
			b = append(b, id[:]...)
		}
	}
	return string(b)
}

func splitIDs[T CheckpointID | oid.ID](r *fieldReader, s string) []T {
	var zero T
	if len(s)%len(zero) != 0 {
		r.Fail("list of ids cut short")
		return nil
	}
	ids := make([]T, len(s)/len(zero))
	for i := range ids {
		b := []byte(s[i*len(zero) : (i+1)*len(zero)])
		switch id := any(&ids[i]).(type) {
		case *CheckpointID:
			copy(id[:], b)
		case *oid.ID:
			copy(id[:], b)
		}
	}
	return ids
}
