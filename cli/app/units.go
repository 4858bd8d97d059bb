package app

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/settings"
)

// ParseSize reads a number of bytes as the settings do: 512, 64k, 1.5GB, 10GiB.
func ParseSize(s string) (int64, error) {
	n, ok := settings.ParseSize(s)
	if !ok {
		return 0, Usagef("%q is not a size such as 500M, 5GB or 10GiB", s)
	}
	return n, nil
}

// ParseAge reads a length of time: 90s, 15m, 12h, 30d, 2w, and sums like 1d12h.
func ParseAge(s string) (time.Duration, error) {
	d, err := inspect.ParseAge(s)
	if err != nil {
		return 0, Usagef("%q is not a duration such as 30d, 12h or 2w", s)
	}
	return d, nil
}

// FormatSize writes bytes for a person: 512 B, 1.5 KiB, 232 MiB.
func FormatSize(n int64) string {
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

// FormatAge writes how long ago something was in one unit: now, 5s, 3m, 2h, 4d, 7w, 2y.
func FormatAge(d time.Duration) string {
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

// Ago is FormatAge in a sentence.
func Ago(o *Output, t time.Time) string {
	if age := FormatAge(o.Now().Sub(t)); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// FormatTook writes how long work took: 4ms, 1.2s, 3m10s.
func FormatTook(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// CheckpointCount says how many checkpoints there are, as list numbers them, and how many
// safety checkpoints beside them.
func CheckpointCount[T int | int64](n, safety T) string {
	text := Plural(n, "checkpoint", "checkpoints")
	if safety > 0 {
		text += " and " + Plural(safety, "safety checkpoint", "safety checkpoints")
	}
	return text
}

// Plural writes "1 file", "2 files".
func Plural[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ExactSize is a size with a unit, as config takes it, where no digit is lost by that.
func ExactSize(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// ByCount is the word for one, or the word for several: "is", "are".
func ByCount(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func ItOrThem(n int) string { return ByCount(n, "it", "them") }

// Did is what a command did, or what it would do on a dry run.
func Did(dryRun bool, did, would string) string {
	if dryRun {
		return would
	}
	return did
}

// ShortID is how many letters of an id are shown: 32 bits, and any unambiguous prefix will do.
const ShortID = 8

func Utoa(n uint64) string { return strconv.FormatUint(n, 10) }

func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func Pad(s string, n int) string {
	if len(s) >= n {
		return s
	}
	return s + strings.Repeat(" ", n-len(s))
}
