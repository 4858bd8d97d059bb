package gitrepo

import (
	"strconv"
	"strings"
	"time"
)

// LogEntry is one line of a reflog: "old new who time zone TAB message".
type LogEntry struct {
	Old, ID string
	Rest    string // from the space after ID, without the newline
}

// ParseLog reads the text of a reflog, the oldest line first. What is no line of a reflog is left out.
func ParseLog(data []byte) (list []LogEntry) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		n := strings.IndexByte(line, ' ')
		if n > 0 && len(line) > 2*n+1 && line[2*n+1] == ' ' && isID(line[:n]) && isID(line[n+1:2*n+1]) {
			list = append(list, LogEntry{line[:n], line[n+1 : 2*n+1], line[2*n+1:]})
		}
	}
	return list
}

// Message is what git, or the program that moved the reference, wrote: "commit: Fix the test".
func (e LogEntry) Message() string {
	_, text, _ := strings.Cut(e.Rest, "\t")
	return text
}

// Time is when the line was written, zero where it does not say that.
func (e LogEntry) Time() time.Time {
	who, _, _ := strings.Cut(e.Rest, "\t")
	fields := strings.Fields(who[strings.LastIndexByte(who, '>')+1:])
	if len(fields) == 0 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
