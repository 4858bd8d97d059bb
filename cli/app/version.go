package app

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Version is set by the linker (-X <module>/cli/app.Version=1.2.3); without
// that the build information tells.
var Version string

func VersionText() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := strings.Trim(info.Main.Version, "()")
	if v == "" {
		v = "devel"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; v == "devel" && rev != "" {
		v = fmt.Sprintf("devel %.12s", rev)
		if settings["vcs.modified"] == "true" {
			v += " modified"
		}
	}
	return v
}
