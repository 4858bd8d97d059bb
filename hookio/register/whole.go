package register

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// An extension is a file that is ours alone, as agents have it that run scripts
// in place of hooks. Its first line is a comment that says so, and what it runs:
//
//	// rewind {"program":"/usr/bin/rewind","version":"1.2.0"} …
//
// The rest is the client's extension, with the program's path. It is replaced when it is
// registered again, and removed when it is taken out; a file of that name without
// such a line is not ours, and stays.

const (
	wholeMark = "// rewind "
	wholeNote = " made by 'rewind config --register-hooks', which replaces it"
	// extensionProgram is the part of an extension that names the program.
	extensionProgram = `const PROGRAM = "rewind"`
)

// wholeHead is what the first line says.
type wholeHead struct {
	Program string `json:"program"`
	Version string `json:"version"`
}

// NotOursError: a file has the name of one of ours, and something else in it. It
// was left as it is.
type NotOursError struct{}

func (*NotOursError) Error() string { return "is there, and was not made by rewind" }

// wholeText is the file for a program.
func (c *Client) wholeText(p Program) []byte {
	head, err := json.Marshal(wholeHead{p.Path, p.Version})
	path, perr := json.Marshal(p.Path)
	if err != nil || perr != nil {
		panic(err) // strings always marshal
	}
	return []byte(wholeMark + string(head) + wholeNote + "\n" + strings.Replace(*c.extension, extensionProgram, "const PROGRAM = "+string(path), 1))
}

// wholeProgram reads back what a file of ours runs.
func wholeProgram(content []byte) (p Program, ok bool) {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte(wholeMark))
	if !ok {
		return p, false
	}
	var head wholeHead
	if json.NewDecoder(bytes.NewReader(rest)).Decode(&head) != nil || head.Program == "" {
		return p, false
	}
	return Program{Path: head.Program, Version: head.Version}, true
}

func (c *Client) editWhole(old []byte, program *Program) ([]byte, error) {
	_, ours := wholeProgram(old)
	switch {
	case old != nil && !ours && program == nil:
		return old, nil
	case old != nil && !ours:
		return nil, &NotOursError{}
	case program == nil:
		return nil, nil
	}
	return c.wholeText(*program), nil
}

// OnlyOurs reports that nothing of the person's is in a file: Made, or settings of our hooks alone.
func (c *Client) OnlyOurs(content []byte) bool {
	if c.extension != nil || content == nil {
		return c.Made(content)
	}
	for _, topLevel := range []bool{false, true} {
		form := c.form
		form.topLevel = topLevel
		if rest, err := strip(content, form); err == nil && rest == nil {
			return true
		}
	}
	return false
}

// Made reports that a file's content is an extension as we make it, with nothing
// of the person's in it.
func (c *Client) Made(content []byte) bool {
	p, ours := wholeProgram(content)
	return c.extension != nil && ours && bytes.Equal(content, c.wholeText(p))
}

// inspectWhole looks for our files.
func (c *Client) inspectWhole(files []SettingsFile) (found []FoundEntry, findings []Finding) {
	for _, f := range files {
		p, ours := wholeProgram(f.Content)
		if !ours {
			if f.Ours && f.Content != nil {
				findings = append(findings, Finding{Code: NotOurs, File: f.Path})
			}
			continue
		}
		found = append(found, FoundEntry{Entry{Command: c.CommandLine(p.Path)}, f.Path})
		if !c.Made(f.Content) {
			findings = append(findings, Finding{Code: OtherVersion, File: f.Path, Detail: shell.Clip(p.Version)})
		}
	}
	switch {
	case len(found) == 0:
		findings = append(findings, Finding{Code: NotRegistered})
	case len(found) > 1:
		findings = append(findings, Finding{Code: RegisteredTwice, Detail: fmt.Sprintf("in %s and in %s", filepath.Dir(found[0].File), filepath.Dir(found[1].File))})
	}
	return found, findings
}
