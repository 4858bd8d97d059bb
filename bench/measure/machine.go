package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Load is the load average of the last minute; ok is false where the system
// does not tell.
func Load() (load float64, ok bool) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(data))
	if len(f) == 0 {
		return 0, false
	}
	load, err = strconv.ParseFloat(f[0], 64)
	return load, err == nil
}

// Machine describes what the numbers were taken on: processors, memory, system,
// and the file system that holds dir.
func Machine(dir string) string {
	parts := []string{fmt.Sprintf("%d × %s", runtime.NumCPU(), processor())}
	if m := memory(); m != "" {
		parts = append(parts, m)
	}
	if v, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		parts = append(parts, "Linux "+strings.TrimSpace(string(v)))
	} else {
		parts = append(parts, runtime.GOOS+"/"+runtime.GOARCH)
	}
	if fs := output("stat", "-f", "-c", "%T", dir); fs != "" {
		parts = append(parts, fs)
	}
	return strings.Join(append(parts, runtime.Version()), ", ")
}

func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo") // no such file elsewhere: then the architecture must do
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func memory() string {
	data, _ := os.ReadFile("/proc/meminfo") // as above
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB"))); err == nil {
				return fmt.Sprintf("%d GB", (kb+512<<10)>>20)
			}
		}
	}
	return ""
}

// Version is the first line that a program prints about itself, "" if it is not
// installed.
func Version(ctx context.Context, program string, arg ...string) string {
	if _, err := exec.LookPath(program); err != nil {
		return ""
	}
	out, err := exec.CommandContext(ctx, program, arg...).CombinedOutput()
	if err != nil {
		return program
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

func output(program string, arg ...string) string {
	out, err := exec.Command(program, arg...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
