package register

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/hookio"
)

// PiVersion is that of our extension in pi, and of what it and rewind hook pi say to each other.
const PiVersion = 1

// piText is the extension, in TypeScript: pi loads it as it is. It is a package for pi too, in which
// the program is looked for in PATH.
//
//go:embed pi/rewind.ts
var piText string

// piProgram is its line that names the program.
const piProgram = `const PROGRAM = "rewind";`

var pi = Client{
	Agent:       hookio.Pi,
	Programs:    []string{"pi"},
	Hint:        "pi reads its extensions when it starts: run /reload in open sessions",
	HintRemoved: "open pi sessions keep it until /reload",
	dir:         func(w Where) string { return piDir(w) },
	files: func(w Where, dir string) []SettingsFile {
		files := []SettingsFile{{Path: filepath.Join(dir, "extensions", "rewind.ts"), Ours: true}}
		if w.Root != "" {
			files = append(files, SettingsFile{Path: filepath.Join(w.Root, ".pi", "extensions", "rewind.ts")})
		}
		return files
	},
	extension: func(p Program) string {
		path, err := json.Marshal(p.Path)
		if err != nil {
			return piText // a string always marshals
		}
		return strings.Replace(piText, piProgram, "const PROGRAM = "+string(path)+";", 1)
	},
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
	for _, dir := range []string{piDir(w), below(w.Root, ".pi")} {
		if dir == "" {
			continue
		}
		settings, err := ReadFile(filepath.Join(dir, "settings.json"))
		if err == nil {
			if older := olderInSettings(settings); older != "" {
				return older
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

// olderInSettings looks for it among the packages and extensions that pi's settings name.
func olderInSettings(content []byte) string {
	var settings struct {
		Packages   []any `json:"packages"`
		Extensions []any `json:"extensions"`
	}
	if json.Unmarshal(content, &settings) != nil {
		return "" // pi does not read it either
	}
	for _, entry := range append(settings.Packages, settings.Extensions...) {
		source, _ := entry.(string)
		if fields, ok := entry.(map[string]any); ok {
			source, _ = fields["source"].(string)
		}
		if strings.Contains(source, "pi-rewind-hook") {
			return source
		}
	}
	return ""
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
