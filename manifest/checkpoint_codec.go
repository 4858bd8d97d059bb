package manifest

import "rewind/manifest/wire"

func (w *fieldWriter) checkpoint(c *Checkpoint) {
	number, text := kindNumber(checkpointKinds, c.Kind)
	w.eight(1, c.ID)
	w.time(2, c.Time)
	w.number(3, number)
	w.text(4, text)
	w.text(5, c.Description)
	w.text(6, c.Name)
	w.flag(7, c.Pinned)
	w.id(8, c.Root)
	w.number(9, c.Files)
	w.number(10, c.Bytes)
	w.number(11, c.Added)
	w.number(12, c.Modified)
	w.number(13, c.Deleted)
	w.eight(14, c.Parent)
	w.number(15, c.StoredBytes)
	w.id(16, c.Coverage)
	w.number(17, c.Partial)
	w.id(18, c.Rules)
	w.text(19, c.Tool)
	w.text(20, c.Prompt)
	w.packed(21, c.PromptID)
	w.packed(22, c.Session)
	w.text(23, c.Agent)
	w.packed(24, c.Subagent)
	w.packed(25, c.GitHead)
	w.text(26, c.GitBranch)
	if c.Transcript != nil {
		var in fieldWriter
		in.transcript(c.Transcript)
		w.presentText(27, string(in.dst))
	}
	w.text(28, c.ToolUseID)
}

func (r *fieldReader) checkpoint() *Checkpoint {
	c := &Checkpoint{}
	for r.next() {
		switch r.field {
		case 1:
			c.ID = r.eight()
		case 2:
			c.Time = r.time()
		case 3:
			c.Kind = kindOf(checkpointKinds, r.number())
		case 4:
			c.Kind = readKindText(r, checkpointKinds, c.Kind)
		case 5:
			c.Description = r.text()
		case 6:
			c.Name = r.text()
		case 7:
			c.Pinned = r.flag()
		case 8:
			c.Root = r.object()
		case 9:
			c.Files = r.number()
		case 10:
			c.Bytes = r.number()
		case 11:
			c.Added = r.number()
		case 12:
			c.Modified = r.number()
		case 13:
			c.Deleted = r.number()
		case 14:
			c.Parent = r.eight()
		case 15:
			c.StoredBytes = r.number()
		case 16:
			c.Coverage = r.object()
		case 17:
			c.Partial = r.number()
		case 18:
			c.Rules = r.object()
		case 19:
			c.Tool = r.text()
		case 20:
			c.Prompt = r.text()
		case 21:
			c.PromptID = r.packed()
		case 22:
			c.Session = r.packed()
		case 23:
			c.Agent = r.text()
		case 24:
			c.Subagent = r.packed()
		case 25:
			c.GitHead = r.packed()
		case 26:
			c.GitBranch = r.text()
		case 27:
			c.Transcript = r.transcript()
		case 28:
			c.ToolUseID = r.text()
		}
	}
	return c
}

func (w *fieldWriter) transcript(t *Transcript) {
	w.packed(1, t.Session)
	w.text(2, t.Agent)
	w.text(3, t.Path)
	w.number(4, t.Offset)
	w.packed(5, t.EventID)
	w.id(6, t.Content)
}

func (r *fieldReader) transcript() *Transcript {
	t := &Transcript{}
	in := fieldReader{Decoder: wire.Decoder{What: r.What, Data: r.presentText()}, taken: true}
	for in.next() {
		switch in.field {
		case 1:
			t.Session = in.packed()
		case 2:
			t.Agent = in.text()
		case 3:
			t.Path = in.text()
		case 4:
			t.Offset = in.number()
		case 5:
			t.EventID = in.packed()
		case 6:
			t.Content = in.object()
		}
	}
	if in.Err != nil {
		r.Fail("transcript: " + in.Err.Error())
	}
	return t
}
