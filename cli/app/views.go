package app

import (
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"
)

// WorkView is who did something; without a session it is the person.
type WorkView struct {
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	Subagent  string `json:"subagent"`
	PromptID  string `json:"prompt_id"`
	Prompt    string `json:"prompt"`
	Tool      string `json:"tool"`
	Call      string `json:"call"`
	Time      string `json:"time"`
}

type KeptView struct {
	PathView
	From   int        `json:"from"`
	To     int        `json:"to"`
	Reason string     `json:"reason"`
	By     []WorkView `json:"by"`
}

type ConflictView struct {
	KeptView
	Choice string `json:"choice"`
}

// PathView is a path: relative to the root, with /. A name that is no UTF-8 has
// U+FFFD in Path, and its bytes in Path64.
type PathView struct {
	Path   string `json:"path"`
	Path64 string `json:"path_b64,omitempty"`
}

func ViewPath(p string) PathView {
	if utf8.ValidString(p) {
		return PathView{Path: p}
	}
	return PathView{Path: strings.ToValidUTF8(p, "\uFFFD"), Path64: base64.StdEncoding.EncodeToString([]byte(p))}
}

func ViewPaths(paths []string) []PathView { return Map(paths, ViewPath) }

// Map is what f makes of each element. An empty list is [] in JSON, and never null.
func Map[T, V any](list []T, f func(T) V) []V {
	out := make([]V, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// ViewTime is RFC 3339 in UTC.
func ViewTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
