package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rewind/cas/oid"
	"rewind/manifest/wire"
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
)

// Kinds are a number in the log: their place here, from 1. New ones go to the end.
var (
	checkpointKinds = []CheckpointKind{Manual, Prompt, PreTool, PostTool, SessionStart, Stop, SessionEnd, Safety}
	operationKinds  = []OperationKind{OpRestore, OpUndo, OpUndoRestore, OpRedoRestore, OpGC, OpForget, OpRepair}
)

// Append appends the record's canonical bytes. A record with no field set
// appends nothing, which ParseRecord refuses.
func (r Record) Append(dst []byte) []byte {
	w := fieldWriter{dst: dst}
	switch {
	case r.Checkpoint != nil:
		w.dst = append(w.dst, recordCheckpoint)
		w.checkpoint(r.Checkpoint)
	case r.Mark != nil:
		w.dst = append(w.dst, recordMark)
		w.mark(r.Mark)
	case r.Delete != nil:
		w.dst = append(w.dst, recordDelete)
		w.time(1, r.Delete.Time)
		w.text(2, joinIDs(r.Delete.Checkpoints))
		w.text(3, r.Delete.Reason)
	case r.Operation != nil:
		w.dst = append(w.dst, recordOperation)
		w.operation(r.Operation)
	case r.Rewrite != nil:
		w.dst = append(w.dst, recordRewrite)
		w.time(1, r.Rewrite.Time)
		w.text(2, joinIDs(r.Rewrite.Checkpoints))
		w.text(3, joinIDs(r.Rewrite.Roots))
	case r.Session != nil:
		w.dst = append(w.dst, recordSession)
		w.session(r.Session)
	case r.Amend != nil:
		w.dst = append(w.dst, recordAmend)
		w.amend(r.Amend)
	case r.Binding != nil:
		w.dst = append(w.dst, recordBinding)
		w.binding(r.Binding)
	}
	return w.dst
}

// ParseRecord parses them. Kinds of records and fields that it does not know are left
// out, not refused, so that an older program reads a newer log of the same format version: a record
// of an unknown kind has no field set. Everything else that Append does not write is a *FormatError.
func ParseRecord(data []byte) (Record, error) {
	r := fieldReader{Decoder: wire.Decoder{What: "record", Data: string(data)}, taken: true}
	kind := r.Bytes(1)
	if r.Err != nil {
		return Record{}, r.Err
	}
	var rec Record
	switch kind[0] {
	case recordCheckpoint:
		rec.Checkpoint = r.checkpoint()
	case recordMark:
		rec.Mark = r.mark()
	case recordDelete:
		rec.Delete = r.delete()
	case recordOperation:
		rec.Operation = r.operation()
	case recordRewrite:
		rec.Rewrite = r.rewrite()
	case recordSession:
		rec.Session = r.session()
	case recordAmend:
		rec.Amend = r.amend()
	case recordBinding:
		rec.Binding = r.binding()
	default:
		for r.next() {
		}
	}
	if r.Err != nil {
		return Record{}, r.Err
	}
	return rec, nil
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

// readKindText reads a kind that was written as text because it has no number.
func readKindText[K ~string](r *fieldReader, kinds []K, before K) K {
	kind := K(r.text())
	if n, _ := kindNumber(kinds, kind); n != 0 || before != "" {
		r.Fail("kind not in its canonical form")
	}
	return kind
}

func (w *fieldWriter) mark(m *Mark) {
	w.eight(1, m.Checkpoint)
	w.time(2, m.Time)
	if m.Name != nil {
		w.presentText(3, *m.Name)
	}
	if m.Pinned != nil {
		// 1 is no, 2 is yes: absence means that the pin stays as it was.
		v := uint64(1)
		if *m.Pinned {
			v = 2
		}
		w.number(4, v)
	}
}

func (r *fieldReader) mark() *Mark {
	m := &Mark{}
	for r.next() {
		switch r.field {
		case 1:
			m.Checkpoint = r.eight()
		case 2:
			m.Time = r.time()
		case 3:
			name := r.presentText()
			m.Name = &name
		case 4:
			v := r.number()
			if v > 2 {
				r.Fail("flag beyond 2")
			}
			pinned := v == 2
			m.Pinned = &pinned
		}
	}
	return m
}

func (w *fieldWriter) operation(o *Operation) {
	number, text := kindNumber(operationKinds, o.Kind)
	w.time(1, o.Time)
	w.number(2, number)
	w.text(3, text)
	w.eight(4, o.Checkpoint)
	w.eight(5, o.Safety)
	w.id(6, o.Before)
	w.id(7, o.After)
	w.id(8, o.Paths)
	w.number(9, o.Undoes)
	w.text(10, o.TranscriptBackup)
	w.text(11, o.Fork)
	w.text(12, o.Verb)
	w.packed(13, o.Session)
}

func (r *fieldReader) operation() *Operation {
	o := &Operation{}
	for r.next() {
		switch r.field {
		case 1:
			o.Time = r.time()
		case 2:
			o.Kind = kindOf(operationKinds, r.number())
		case 3:
			o.Kind = readKindText(r, operationKinds, o.Kind)
		case 4:
			o.Checkpoint = r.eight()
		case 5:
			o.Safety = r.eight()
		case 6:
			o.Before = r.object()
		case 7:
			o.After = r.object()
		case 8:
			o.Paths = r.object()
		case 9:
			o.Undoes = r.number()
		case 10:
			o.TranscriptBackup = r.text()
		case 11:
			o.Fork = r.text()
		case 12:
			o.Verb = r.text()
		case 13:
			o.Session = r.packed()
		}
	}
	return o
}

func (w *fieldWriter) session(s *Session) {
	w.packed(1, s.ID)
	w.text(2, s.Agent)
	w.text(3, s.TranscriptPath)
	w.packed(4, s.Parent)
	w.text(5, s.Source)
	w.time(6, s.Time)
}

func (r *fieldReader) session() *Session {
	s := &Session{}
	for r.next() {
		switch r.field {
		case 1:
			s.ID = r.packed()
		case 2:
			s.Agent = r.text()
		case 3:
			s.TranscriptPath = r.text()
		case 4:
			s.Parent = r.packed()
		case 5:
			s.Source = r.text()
		case 6:
			s.Time = r.time()
		}
	}
	return s
}

func (r *fieldReader) delete() *Delete {
	d := &Delete{}
	for r.next() {
		switch r.field {
		case 1:
			d.Time = r.time()
		case 2:
			d.Checkpoints = readIDs[CheckpointID](r)
		case 3:
			d.Reason = r.text()
		}
	}
	return d
}

func (r *fieldReader) rewrite() *Rewrite {
	w := &Rewrite{}
	for r.next() {
		switch r.field {
		case 1:
			w.Time = r.time()
		case 2:
			w.Checkpoints = readIDs[CheckpointID](r)
		case 3:
			w.Roots = readIDs[oid.ID](r)
		}
	}
	if len(w.Checkpoints) != len(w.Roots) {
		r.Fail("as many roots as checkpoints are needed")
	}
	return w
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

func readIDs[T CheckpointID | oid.ID](r *fieldReader) []T {
	s := r.text()
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
