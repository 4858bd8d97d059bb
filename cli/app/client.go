package app

import (
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/hookio"
)

const (
	// MaxAnswer bounds what is read of such a command's output; agents show less.
	MaxAnswer = 64 << 10
	// ClientVariable names the agent in whose window the answer is shown. Only our hook process sets it.
	ClientVariable = "REWIND_ANSWERS_IN"
)

// Typed says how the person types a command line where the answer is shown.
func (o *Output) Typed(line string) string {
	if o.client == "" {
		return line
	}
	return hookio.TypedInSession(line)
}

// clientVersion is the version of the agent that wrote a transcript, as the last of its lines that
// names one says it; "" where none does.
func clientVersion(transcript string) string {
	f, info, err := vfs.OpenRegular(transcript, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	const end = 64 << 10
	if info.Size() > end {
		_, _ = f.Seek(-end, io.SeekEnd) // else its beginning tells
	}
	data, err := io.ReadAll(io.LimitReader(f, end))
	if err != nil {
		return ""
	}
	const member = `"version":"`
	i := strings.LastIndex(string(data), member)
	if i < 0 {
		return ""
	}
	version, _, _ := strings.Cut(string(data[i+len(member):]), `"`)
	return version
}

// Opens says how the person opens a conversation where the answer is shown.
func (o *Output) Opens(m *conversation.Moved) string {
	if o.client != "" && m.Agent == string(o.client) && m.Session != "" && m.Again == "" {
		if typed := o.client.Opens(m.Session, clientVersion(o.transcript)); typed != "" {
			return typed
		}
	}
	return m.Resume
}
