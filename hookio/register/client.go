package register

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/hookio"
)

// Where is the account and the project whose settings are meant.
type Where struct {
	Home   string // the home directory, "" where it is not known
	Root   string // of the project, "" for none
	Getenv func(string) string
	// Read reads a file of an agent's; nil: ReadFile. Another one shows what would be if files had other contents.
	Read func(file string) ([]byte, error)
}

func (w Where) read(file string) ([]byte, error) {
	if w.Read != nil {
		return w.Read(file)
	}
	return ReadFile(file)
}

// inProject are files of the project by their names, with slashes; none where no project is meant.
func (w Where) inProject(names ...string) (files []string) {
	for _, name := range names {
		if w.Root != "" {
			files = append(files, filepath.Join(w.Root, filepath.FromSlash(name)))
		}
	}
	return files
}

// oursAnd are the file in which we register, and others that the agent reads.
func oursAnd(ours string, others ...string) []SettingsFile {
	files := []SettingsFile{{Path: ours, Ours: true}}
	for _, file := range others {
		files = append(files, SettingsFile{Path: file})
	}
	return files
}

// Client is how an agent comes to call us: where it reads hooks, and what stands
// there. There is one for each, in the file of its name; adding one is that file
// and its line in clients.
type Client struct {
	Agent hookio.Agent
	// Programs are the names of its program in PATH.
	Programs []string
	// Hint is what a person has to do once hooks are registered, HintRemoved when
	// they were taken out; "" for nothing.
	Hint, HintRemoved string
	// PluginCure is what to do where a plugin of ours serves the agent already,
	// "" where that cannot be.
	PluginCure string

	// dir is the agent's own directory on the account; "" where it is not known.
	dir func(Where) string
	// files are all that the agent reads, without contents, the person's own
	// first; dir is not "".
	files func(w Where, dir string) []SettingsFile
	// others are files without hooks that decide whether hooks run; nil: there are none. Where one is JSON, the
	// switches are looked for in it.
	others func(w Where, dir string) []string
	// hooks are what is registered, the same for every tier, which decides at run
	// time.
	hooks []registration
	form  form
	// grown is what was added to hooks since they were first released: see Complete. A client that has a changed
	// hook approved again has none: the person registers anew, and reads that.
	grown []growth
	// stopsWithout: an agent that refuses the prompt or the tool where a hook cannot
	// be run. Its line ends well where the program is gone.
	stopsWithout bool
	// known are the events that every version of the agent knows, where one that
	// it does not know does harm; nil: none does.
	known []string
	// switches are settings that keep hooks from running, disabled the one that lists the command lines of those
	// that do not, "" for none.
	switches []offSwitch
	disabled string
	// reads says what the agent does not take in a file that calls us and that we understand; nil: nothing is known.
	reads func(f SettingsFile, root hujson.Value) []Finding
	// extension is the text of a file that is ours alone, an extension or plugin
	// for the agent that calls us; nil for an agent with hooks. See whole.go.
	extension *string
	// packaged names the package of ours that the agent's own installer put in, "" for none; nil: there is no such.
	packaged func(Where) string
	// runs reports whether the agent runs a hook that it reads, where that depends on something outside the file, such
	// as trust; nil: it does.
	runs func(w Where, e FoundEntry) bool
	// check looks for what else keeps the hooks found from running, such as trust
	// that the person has not given. Its findings have the Code AgentsOwn.
	check func(w Where, found []FoundEntry) []Finding
}

// clients are all agents that can be registered, in the order in which they are
// listed.
var clients = [...]*Client{&claude, &droid, &pi, &codex, &qwen, &gemini, &copilot, &opencode, &cursor, &kiro}

// Clients lists the agents that can be registered.
func Clients() []*Client { return clients[:] }

// ClientOf is the one of an agent, nil where there is none.
func ClientOf(agent hookio.Agent) *Client {
	for _, c := range clients {
		if c.Agent == agent {
			return c
		}
	}
	return nil
}

// registration is one hook to be registered. The events are those that every
// version of the agent knows, where older ones drop a whole file for one unknown
// name. A matcher is a list of exact names, or one regular expression: mixed,
// the names would match parts of other names.
type registration struct{ event, matcher string }

// offSwitch is a setting that keeps hooks from running where it has that value,
// true or false. A dot in the name goes into an object.
type offSwitch struct {
	name  string
	value bool
	code  FindingCode
}

// Program is what hooks run.
type Program struct {
	Path    string // absolute
	Version string
}

// Dir is the agent's own directory on the account, "" where it is not known.
func (c *Client) Dir(w Where) string { return c.dir(w) }

// Present reports whether the agent was ever used on this account. One whose
// directory cannot be looked at was: what is done with it says what is wrong.
func (c *Client) Present(w Where) bool {
	dir := c.dir(w)
	if dir == "" {
		return false
	}
	info, err := os.Stat(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.IsDir()
}

// Files are all files in which the agent reads hooks, without their contents.
func (c *Client) Files(w Where) []SettingsFile {
	dir := c.dir(w)
	if dir == "" {
		return nil
	}
	return c.files(w, dir)
}

// Check looks for what keeps the hooks found from running, beside what stands in
// the files themselves.
func (c *Client) Check(w Where, found []FoundEntry) []Finding {
	if len(found) == 0 && c.Packaged(w) == "" {
		return nil
	}
	var findings []Finding
	for _, file := range c.otherFiles(w) {
		if content, err := w.read(file); err == nil && filepath.Ext(file) == ".json" {
			if _, root, err := parseSettings(content); err == nil {
				findings = append(findings, c.inspectSwitches(SettingsFile{Path: file}, root)...)
			}
		}
	}
	if c.check != nil {
		findings = append(findings, c.check(w, found)...)
	}
	return findings
}

func (c *Client) otherFiles(w Where) []string {
	dir := c.dir(w)
	if c.others == nil || dir == "" {
		return nil
	}
	return c.others(w, dir)
}

// Packaged names the package of ours by which the agent calls us without a file that we registered,
// "" for none.
func (c *Client) Packaged(w Where) string {
	if c.packaged == nil {
		return ""
	}
	return c.packaged(w)
}

// Edit is the content that files[i] is to have: with our hooks, which run the
// program, in place of those that are there; without them where program is nil.
// files are those of Files with their contents, nil standing for a missing one.
// A nil result means that the file is to be removed; taking out what Edit put in
// gives the content before, to the byte. Errors: *NotJSONError, *ShapeError,
// *NotOursError.
func (c *Client) Edit(files []SettingsFile, i int, program *Program) ([]byte, error) {
	f := files[i]
	if c.extension != nil {
		return c.editWhole(f.Content, program)
	}
	form := c.formOf(f)
	clean, err := strip(f.Content, form)
	if err != nil || program == nil {
		return clean, err
	}
	hooks, err := c.hooksFor(files, i, clean)
	if err != nil {
		return nil, err
	}
	out, err := addAll(clean, c.CommandLine(program.Path), hooks, form)
	if err != nil || sameEntries(f.Content, out, form) {
		return f.Content, err
	}
	return out, nil
}

func (c *Client) formOf(f SettingsFile) form {
	form := c.form
	form.topLevel = f.TopLevel
	return form
}

// hooksFor are the hooks that go into files[i], whose content without ours is
// clean. A file with the events at its top level hides the others of its
// directory for the events that it has: so what it has goes there and nowhere
// else, and never the first hook for an event.
func (c *Client) hooksFor(files []SettingsFile, i int, clean []byte) ([]registration, error) {
	if files[i].TopLevel {
		return withEvents(c.hooks, clean, true)
	}
	hooks := c.hooks
	for _, f := range files {
		if !f.TopLevel || !f.Ours {
			continue
		}
		hiding, err := strip(f.Content, c.formOf(f))
		if err == nil {
			hooks, err = withEvents(hooks, hiding, false)
		}
		if err != nil {
			return nil, err
		}
	}
	return hooks, nil
}

// withEvents are the hooks for events that a file has at its top level, or has not.
func withEvents(hooks []registration, b []byte, has bool) ([]registration, error) {
	_, root, err := parseSettings(b)
	if err != nil {
		return nil, err
	}
	top, _ := containerOf(root)
	return slices.DeleteFunc(slices.Clone(hooks), func(h registration) bool {
		_, ok := top.member(h.event)
		return ok != has
	}), nil
}

// sameEntries reports whether two contents have the same hooks of ours, in
// whatever order: agents that write a file anew have their own.
func sameEntries(a, b []byte, form form) bool {
	_, ra, errA := parseSettings(a)
	_, rb, errB := parseSettings(b)
	if errA != nil || errB != nil {
		return false
	}
	ea, eb := entriesIn(ra, form), entriesIn(rb, form)
	byPlace := func(x, y Entry) int { return cmp.Or(cmp.Compare(x.Event, y.Event), cmp.Compare(x.Matcher, y.Matcher)) }
	slices.SortStableFunc(ea, byPlace)
	slices.SortStableFunc(eb, byPlace)
	return slices.Equal(ea, eb)
}

// below is a path in a directory, "" where that is not known.
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// maxFile bounds what is read of an agent's file, in bytes.
const maxFile = 16 << 20

// ReadFile reads a regular file of an agent's; nil where there is none.
func ReadFile(file string) ([]byte, error) {
	f, info, err := vfs.OpenRegular(file, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: file, Err: fs.ErrInvalid}
	}
	return io.ReadAll(f)
}
