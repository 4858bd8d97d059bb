package oplog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
)

func EncodePaths(changes []treeio.Change) []byte {
	var out []byte
	for _, c := range changes {
		out = append(out, PathLine(c.Path, c.Action.String())...)
	}
	return out
}

// PathLine is one line of such a list.
func PathLine(path, action string) []byte {
	line := project.PathLine{Path: path, Action: action}
	if !utf8.ValidString(path) {
		line.Raw = base64.StdEncoding.EncodeToString([]byte(path))
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		panic(err) // strings always encode, into memory
	}
	return out.Bytes()
}

// PathOfLine is the path of one.
func PathOfLine(l project.PathLine) string {
	if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
		return string(raw)
	}
	return l.Path
}
