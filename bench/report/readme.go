package report

import (
	"errors"
	"os"
	"strings"
)

const begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"

// ErrNoMarks is a file without the two comments between which the table goes.
var ErrNoMarks = errors.New("report: the marks bench:begin and bench:end are not there")

// ReplaceIn puts text between the marks of a file, and leaves the rest alone.
func ReplaceIn(file, text string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replaced, err := replace(string(data), text)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(replaced), 0o644)
}

func replace(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", ErrNoMarks
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", ErrNoMarks
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n" + end + after, nil
}
