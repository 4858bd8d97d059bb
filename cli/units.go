package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rewind/engine/settings"
)

// parseSize reads a number of bytes as the settings do: 512, 64k, 1.5GB, 10GiB.
func parseSize(s string) (int64, error) {
	n, ok := settings.ParseSize(s)
	if !ok {
		return 0, usagef("%q is not a size; write 500M, 5GB or 10GiB", s)
	}
	return n, nil
}

// parseAge reads a length of time: 90s, 15m, 12h, 30d, 2w, and sums like 1d12h.
func parseAge(s string) (time.Duration, error) {
	rest, total := s, time.Duration(0)
	if rest == "" {
		return 0, usagef("%q is not a length of time; write 30d, 12h or 2w", s)
	}
	for rest != "" {
		num, after := splitNumber(rest)
		n := 0
		for n < len(after) && (after[n] < '0' || after[n] > '9') && after[n] != '.' {
			n++
		}
		unit := after[:n]
		rest = after[n:]
		f, err := strconv.ParseFloat(num, 64)
		d, ok := ageUnits(unit)
		if err != nil || !ok || f < 0 {
			return 0, usagef("%q is not a length of time; units are s, m, h, d, w", s)
		}
		f *= float64(d)
		if f >= math.MaxInt64-float64(total) {
			return 0, usagef("%q is too long a time", s)
		}
		total += time.Duration(f)
	}
	return total, nil
}

func ageUnits(unit string) (time.Duration, bool) {
	switch unit {
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	case "w":
		return 7 * 24 * time.Hour, true
	}
	return 0, false
}

func splitNumber(s string) (num, rest string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// formatSize writes bytes for a person: 512 B, 1.5 KiB, 232 MiB.
func formatSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 1024 && unit < 4 {
		f /= 1024
		unit++
	}
	if f >= 1023.5 && unit < 4 { // 1023.9 KiB would round to 1024 KiB
		f /= 1024
		unit++
	}
	name := [...]string{"", "KiB", "MiB", "GiB", "TiB"}[unit]
	if f < 9.95 {
		return fmt.Sprintf("%.1f %s", f, name)
	}
	return fmt.Sprintf("%.0f %s", f, name)
}

// formatAge writes how long ago something was in one unit: now, 5s, 3m, 2h, 4d, 7w, 2y.
func formatAge(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 14*day:
		return strconv.Itoa(int(d/day)) + "d"
	case d < 365*day:
		return strconv.Itoa(int(d/(7*day))) + "w"
	}
	return strconv.Itoa(int(d/(365*day))) + "y"
}

// formatTook writes how long work took: 4ms, 1.2s, 3m10s.
func formatTook(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// plural writes "1 file", "2 files".
func plural[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
