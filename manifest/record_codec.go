package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	c := codec{dst: append(dst, number)}
	r.fields(&c)
	return c.dst
}

// ParseRecord parses them. Kinds of records and fields that it does not know are left
// out, not refused, so that an older program reads a newer log of the same format version: a record
// of an unknown kind has no field set. Everything else that Append does not write is a *FormatError.
func ParseRecord(data []byte) (Record, error) {
	c := reader("record", string(data))
	var rec Record
	switch c.in.Byte() {
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
	rec.fields(&c)
	if err := c.end(); err != nil {
		return Record{}, err
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

func (r *Record) fields(c *codec) {
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
		if c.reading && len(r.Rewrite.Checkpoints) != len(r.Rewrite.Roots) {
			c.in.Fail("as many roots as checkpoints are needed")
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

// kind takes two numbers: that of a kind, and the one for the text of a kind that has none.
func kind[K ~string](c *codec, n byte, kinds []K, v *K) {
	number, text := kindNumber(kinds, *v)
	c.number(n, &number)
	c.text(n+1, &text)
	if !c.reading {
		return
	}
	if number != 0 {
		*v = kindOf(kinds, number)
	}
	if text != "" {
		if known, _ := kindNumber(kinds, K(text)); known != 0 || number != 0 {
			c.in.Fail("kind not in its canonical form")
		}
		*v = K(text)
	}
}

func (m *Mark) fields(c *codec) {
	c.eight(1, &m.Checkpoint)
	c.time(2, &m.Time)
	if m.Name != nil {
		c.presentText(3, m.Name)
	} else if name := ""; c.reading && c.presentText(3, &name) {
		m.Name = &name
	}
	var pinned uint64 // 1 is no, 2 is yes: absence means that the pin stays as it was
	if m.Pinned != nil {
		pinned = 1
		if *m.Pinned {
			pinned = 2
		}
	}
	c.number(4, &pinned)
	if c.reading && pinned != 0 {
		if pinned > 2 {
			c.in.Fail("flag beyond 2")
		}
		m.Pinned = new(pinned == 2)
	}
}

func (p *Checkpoint) fields(c *codec) {
	c.eight(1, &p.ID)
	c.time(2, &p.Time)
	kind(c, 3, checkpointKinds, &p.Kind) // 4 too
	c.text(5, &p.Description)
	c.text(6, &p.Name)
	c.flag(7, &p.Pinned)
	c.object(8, &p.Root)
	c.number(9, &p.Files)
	c.number(10, &p.Bytes)
	c.number(11, &p.Added)
	c.number(12, &p.Modified)
	c.number(13, &p.Deleted)
	c.eight(14, &p.Parent)
	c.number(15, &p.StoredBytes)
	c.object(16, &p.Coverage)
	c.number(17, &p.Partial)
	c.object(18, &p.Rules)
	c.text(19, &p.Tool)
	c.text(20, &p.Prompt)
	c.packed(21, &p.PromptID)
	c.packed(22, &p.Session)
	c.text(23, &p.Agent)
	c.packed(24, &p.Subagent)
	c.packed(25, &p.GitHead)
	c.text(26, &p.GitBranch)
	if data := ""; c.reading && c.presentText(27, &data) {
		p.Transcript = &Transcript{}
		in := reader(c.in.What, data)
		p.Transcript.fields(&in)
		c.fail("transcript: ", in.end())
	} else if p.Transcript != nil {
		var in codec
		p.Transcript.fields(&in)
		data = string(in.dst)
		c.presentText(27, &data)
	}
	c.text(28, &p.ToolUseID)
	c.text(29, &p.Windows)
	c.text(30, &p.Changed)
	c.text(31, &p.ToolSummary)
	c.object(32, &p.Git)
	c.flag(33, &p.Green)
}

func (t *Transcript) fields(c *codec) {
	c.packed(1, &t.Session)
	c.text(2, &t.Agent)
	c.text(3, &t.Path)
	c.number(4, &t.Offset)
	c.packed(5, &t.EventID)
	c.object(6, &t.Content)
}

func (o *Operation) fields(c *codec) {
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
	c.text(22, &o.Of)
	c.object(23, &o.GitBefore)
	c.object(24, &o.GitAfter)
}

func (s *Session) fields(c *codec) {
	c.packed(1, &s.ID)
	c.text(2, &s.Agent)
	c.text(3, &s.TranscriptPath)
	c.packed(4, &s.Parent)
	c.text(5, &s.Source)
	c.time(6, &s.Time)
}
