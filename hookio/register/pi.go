package register

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio"
)

// PiVersion is that of our extension in pi, and of what it and rewind hook pi say to each other.
const PiVersion = 3

// piText is the extension, in TypeScript: pi loads it as it is. It is a package for pi too, in which
// the program is looked for in PATH.
//
//go:embed pi/rewind.ts
var piText string

var pi = Client{
	Agent:       hookio.Pi,
	Programs:    []string{"pi"},
	Hint:        "pi reads its extensions when it starts: run /reload in open sessions",
	HintRemoved: "open pi sessions keep it until /reload",
	dir:         func(w Where) string { return piDir(w) },
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "extensions", "rewind.ts"), w.inProject(".pi/extensions/rewind.ts")...)
	},
	extension: &piText,
	others: func(w Where, _ string) (files []string) {
		for _, dir := range piDirs(w) {
			files = append(files, filepath.Join(dir, "settings.json"))
		}
		return files
	},
	runs: func(w Where, e FoundEntry) bool {
		// Its settings can leave a file out: "!pattern", "-path".
		return !slices.ContainsFunc(piSettingsIn(w, filepath.Dir(filepath.Dir(e.File))).Extensions, func(entry piSource) bool {
			return strings.HasPrefix(entry.source, "!") || strings.HasPrefix(entry.source, "-") && strings.Contains(entry.source, "rewind")
		})
	},
	packaged: piPackaged,
	check: func(w Where, _ []FoundEntry) []Finding {
		older := OlderPi(w)
		if older == "" {
			return nil
		}
		return []Finding{{
			Code: AgentsOwn, File: older, Detail: "pi also has " + older + ": its menus in /fork and /tree are kept, and rewind's are off",
			Cure: "remove it: pi remove npm:pi-rewind-hook, or delete it and remove it from pi's settings.json",
		}}
	},
}

// piDir is pi's own directory.
func piDir(w Where) string {
	if dir := w.Getenv("PI_CODING_AGENT_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	return below(w.Home, ".pi", "agent")
}

// OlderPi names the extension that pi users had before ours, pi-rewind-hook, where pi has it as a
// package or as a file, on the account or in the project; "" for none.
func OlderPi(w Where) string {
	for _, dir := range piDirs(w) {
		settings := piSettingsIn(w, dir)
		for _, entry := range append(settings.Packages, settings.Extensions...) {
			if strings.Contains(entry.source, "pi-rewind-hook") {
				return entry.source
			}
		}
		for _, file := range piExtensions(filepath.Join(dir, "extensions")) {
			content, err := ReadFile(file)
			if _, ours := wholeProgram(content); err != nil || ours {
				continue
			}
			if text := string(content); slices.ContainsFunc(olderMarks, func(mark string) bool { return strings.Contains(text, mark) }) {
				return file
			}
		}
	}
	return ""
}

// olderMarks are names that it gave to what it kept in git, and its own.
var olderMarks = []string{"refs/pi-rewind/store", "refs/pi-checkpoints/", `"name": "pi-rewind-hook"`}

// piPackage is the name of ours in its package.json.
const piPackage = "pi-rewind-checkpoints"

// piPackaged is what pi's settings, the account's or the project's, say of a package of ours.
func piPackaged(w Where) string {
	for _, dir := range piDirs(w) {
		for _, entry := range piSettingsIn(w, dir).Packages {
			if !entry.off && isPiPackage(entry.source, w.Home, dir) {
				return entry.source
			}
		}
	}
	return ""
}

// isPiPackage reports whether a source names our package: npm:<name>, with a version or not, git:<…>/<name>, or
// a directory that has it, relative to that of the settings.
func isPiPackage(source, home, dir string) bool {
	if rest, ok := strings.CutPrefix(source, "npm:"); ok {
		return rest == piPackage || strings.HasPrefix(rest, piPackage+"@")
	}
	if strings.Contains(source, "://") || strings.HasPrefix(source, "git:") {
		_, name, _ := strings.Cut(source, "/"+piPackage)
		return strings.Contains(source, "/"+piPackage) && (name == "" || name == ".git" || strings.HasPrefix(name, "@") || strings.HasPrefix(name, ".git@"))
	}
	if rest, ok := strings.CutPrefix(source, "~/"); ok {
		source = below(home, rest)
	}
	if !filepath.IsAbs(source) {
		source = filepath.Join(dir, source)
	}
	content, err := ReadFile(filepath.Join(source, "package.json"))
	var manifest struct {
		Name string `json:"name"`
	}
	return err == nil && json.Unmarshal(content, &manifest) == nil && manifest.Name == piPackage
}

// piDirs are those in which pi reads settings and extensions.
func piDirs(w Where) []string {
	return slices.DeleteFunc([]string{piDir(w), below(w.Root, ".pi")}, func(dir string) bool { return dir == "" })
}

// piSettings are the packages and extensions that pi's settings name.
type piSettings struct {
	Packages   []piSource `json:"packages"`
	Extensions []piSource `json:"extensions"`
}

// piSource is one of them: a text, or an object that also says what of it is loaded.
type piSource struct {
	source string
	off    bool // its extensions are not loaded
}

// UnmarshalJSON reads both forms; any other names nothing.
func (s *piSource) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &s.source) == nil {
		return nil
	}
	var filtered struct {
		Source     string   `json:"source"`
		Extensions []string `json:"extensions"`
	}
	if json.Unmarshal(b, &filtered) == nil {
		s.source, s.off = filtered.Source, filtered.Extensions != nil && len(filtered.Extensions) == 0
	}
	return nil
}

// piSettingsIn reads a directory's settings; what cannot be read pi does not read either.
func piSettingsIn(w Where, dir string) (settings piSettings) {
	content, err := w.read(filepath.Join(dir, "settings.json"))
	if err != nil || json.Unmarshal(content, &settings) != nil {
		return piSettings{}
	}
	return settings
}

// maxPiExtensions bounds how many files are looked into.
const maxPiExtensions = 64

// piExtensions are the files that pi would load of a directory.
func piExtensions(dir string) (files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js") {
			files = append(files, name)
		} else {
			files = append(files, filepath.Join(name, "index.ts"), filepath.Join(name, "index.js"), filepath.Join(name, "package.json"))
		}
	}
	return files[:min(len(files), maxPiExtensions)]
}
