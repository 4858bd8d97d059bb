package setup

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/settings"
)

// olderTiers are the directories in which the older rewind keeps its tiers, below the home directory.
var olderTiers = []string{".config/checkpoint-rewind/tiers", ".rewind/system/tiers"}

// olderIgnores are its lists of what is not captured, for all projects.
var olderIgnores = []string{".rewind/rewind-checkpoint-ignore.json", ".rewind/system/rewind-checkpoint-ignore.json"}

// olderFindings name the files of an older rewind that nothing reads any more.
func olderFindings(home string) (out []finding) {
	if home == "" {
		return nil
	}
	add := func(file, what, cure string) {
		out = append(out, finding{Severity: registration.Mild, Area: "settings", Message: file + " is " + what + " of an older rewind, and has no effect", Cure: cure})
	}
	for _, dir := range olderTiers {
		dir = filepath.Join(home, filepath.FromSlash(dir))
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // mostly there is none
		}
		to := filepath.Join(home, ".rewind", "tiers")
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			tier := strings.TrimSuffix(name, "-tier")
			if !ok || !settings.IsTier(tier) || isRegular(filepath.Join(to, tier+".json")) {
				continue // no tier, or one that was taken over
			}
			file := filepath.Join(dir, e.Name())
			add(file, "a tier", "if you changed it: mkdir -p "+app.ShellQuote(to)+" && cp "+app.ShellQuote(file)+" "+app.ShellQuote(filepath.Join(to, tier+".json")))
		}
	}
	for _, file := range olderIgnores {
		if file = filepath.Join(home, filepath.FromSlash(file)); isRegular(file) {
			add(file, "a list of ignored paths", "rewind config --global ignore '[…]' with those of its patterns that you still want")
		}
	}
	return out
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
