package manifest

import "github.com/rewind-cli/rewind/manifest/wire"

func (p *Checkpoint) fields(c codec) {
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
	if c.w == nil && c.r.at(27) {
		p.Transcript = &Transcript{}
		in := fieldReader{Decoder: wire.Decoder{What: c.r.What, Data: c.r.presentText()}, taken: true}
		p.Transcript.fields(codec{r: &in})
		for in.next() { // what is not known
		}
		if in.Err != nil {
			c.r.Fail("transcript: " + in.Err.Error())
		}
	} else if c.w != nil && p.Transcript != nil {
		var in fieldWriter
		p.Transcript.fields(codec{w: &in})
		c.w.presentText(27, string(in.dst))
	}
	c.text(28, &p.ToolUseID)
	c.text(29, &p.Windows)
	c.text(30, &p.Changed)
	c.text(31, &p.ToolSummary)
}

func (t *Transcript) fields(c codec) {
	c.packed(1, &t.Session)
	c.text(2, &t.Agent)
	c.text(3, &t.Path)
	c.number(4, &t.Offset)
	c.packed(5, &t.EventID)
	c.object(6, &t.Content)
}
