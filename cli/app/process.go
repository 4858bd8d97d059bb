package app

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// Interruptible gives a context that ends at the first Ctrl-C (or SIGTERM, or
// SIGHUP). After that the signals have their usual effect again, so that a
// second one kills.
func Interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // nohup means it
			signal.Notify(ch, sig)
		}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-ch:
			signal.Stop(ch)
			cancel()
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel()
	}
}

// Detach is this program as a process that outlives the present one.
func Detach(env account.Env, args ...string) (*exec.Cmd, error) {
	file := env.Program
	if file == "" {
		var err error
		if file, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("start a process of this program: %w", err)
		}
	}
	cmd := exec.Command(file, args...)
	cmd.Env, cmd.SysProcAttr = env.Environ, detached()
	return cmd, nil
}

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

// unknownZone is the name of a time zone whose rule could not be read.
const unknownZone = "-00"

// PosixZone gives the time zone that a TZ in POSIX form means (CET-1CEST,M3.5.0,M10.5.0/3),
// nil where it is none. Package time reads such rules at the end of zone files, but not in TZ, and takes UTC.
func PosixZone(tz string) *time.Location {
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" || strings.ContainsAny(tz, "\n\x00") || !strings.ContainsAny(tz, "0123456789") {
		return nil
	}
	if _, err := time.LoadLocation(tz); err == nil {
		return nil // a zone file of that name, such as EST5EDT
	}
	// RFC 8536: a file with no transitions, one type and the rule; twice, for the older version comes first.
	var file []byte
	for range 2 {
		file = append(file, "TZif3"...)
		file = append(file, make([]byte, 15)...)
		for _, count := range []uint32{0, 0, 0, 0, 1, uint32(len(unknownZone) + 1)} {
			file = binary.BigEndian.AppendUint32(file, count)
		}
		file = append(file, 0, 0, 0, 0, 0, 0) // UTC, no summer time, the first name
		file = append(file, unknownZone+"\x00"...)
	}
	file = append(file, "\n"+tz+"\n"...)
	zone, err := time.LoadLocationFromTZData("Local", file)
	if err != nil {
		return nil
	}
	if name, _ := time.Now().In(zone).Zone(); name == unknownZone {
		return nil
	}
	return zone
}
