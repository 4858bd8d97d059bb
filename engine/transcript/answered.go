package transcript

import (
	"bytes"
	"io"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// maxTail is how much of a transcript's end Answered reads.
const maxTail = 64 << 10

// Answered reports whether the newest message of a transcript is the agent's answer: no prompt, no tool call and no result
// of one. It is true, too, where the file cannot tell.
func Answered(agent Agent, file string) bool {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return true
	}
	defer f.Close()
	tail := io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail)
	data, err := io.ReadAll(tail)
	if err != nil {
		return true
	}
	if info.Size() > maxTail {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	x, err := Read(agent, bytes.NewReader(data))
	if err != nil {
		return true
	}
	for i := len(x.Lines) - 1; i >= 0; i-- {
		switch l := &x.Lines[i]; {
		case l.Side || l.is(isMeta):
		case l.Prompt || len(l.ToolUses) > 0 || len(l.ToolResults) > 0:
			return false
		case l.Role == Assistant:
			return true
		}
	}
	return true
}

// maxNews is how much of what came to a transcript Asked reads.
const maxNews = 1 << 20

// Asked counts a transcript's prompts of the person behind its first bytes, and says through which of them it looked.
func Asked(agent Agent, file string, from int64) (seen int64, asked int) {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return from, 0
	}
	defer f.Close()
	if info.Size() <= from {
		return from, 0
	}
	x, err := Read(agent, io.NewSectionReader(f, from, maxNews))
	if err != nil {
		return from, 0
	}
	for i := range x.Lines {
		if l := &x.Lines[i]; l.Prompt && !l.Side {
			asked++
		}
	}
	return from + x.Size, asked
}
