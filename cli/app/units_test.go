package app

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseAge(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"90s", 90 * time.Second, true},
		{"15m", 15 * time.Minute, true},
		{"12h", 12 * time.Hour, true},
		{"30d", 30 * day, true},
		{"2w", 14 * day, true},
		{"1d12h", 36 * time.Hour, true},
		{"0d", 0, true},
		{"", 0, false},
		{"30", 0, false},
		{"d", 0, false},
		{"-1d", 0, false},
		{"1M", 0, false},
		{"1y", 0, false},
		{"1d2", 0, false},
		{"1..2d", 0, false},
		{"999999999w", 0, false},
		{"1e3d", 0, false},
		{"1.5d", 0, false},
	} {
		got, err := ParseAge(c.in)
		if got != c.want && c.ok || (err == nil) != c.ok {
			t.Errorf("parseAge(%q) = %v, %v; want %v, ok %v", c.in, got, err, c.want, c.ok)
		}
		if err != nil && Explain(err).Code != ExitUsage {
			t.Errorf("parseAge(%q): %v is no usage error", c.in, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"512": 512, "64k": 64 << 10, "1.5GiB": 3 << 29, "10GiB": 10 << 30, "5GB": 5e9, "1T": 1 << 40, "0": 0, "10 MiB": 10 << 20,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "k", "5XB", "-1", "1e400", "5 i", "0x10"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10 << 10: "10 KiB",
		1<<20 - 1: "1.0 MiB", 232 << 20: "232 MiB", 10 << 30: "10 GiB", 5 << 50: "5120 TiB",
	} {
		if got := FormatSize(in); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestFormatAge(t *testing.T) {
	const day = 24 * time.Hour
	for in, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 5 * time.Second: "5s", 59 * time.Second: "59s", time.Minute: "1m", 90 * time.Minute: "1h",
		23 * time.Hour: "23h", day: "1d", 13 * day: "13d", 14 * day: "2w", 364 * day: "52w", 800 * day: "2y",
	} {
		if got := FormatAge(in); got != want {
			t.Errorf("formatAge(%v) = %q, want %q", in, got, want)
		}
	}
}

// What is written as an age is understood as one.
func TestAgeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(int64(time.Second), int64(364*24*time.Hour)).Draw(t, "d"))
		got, err := ParseAge(FormatAge(d))
		if err != nil || got > d || d-got > 7*24*time.Hour {
			t.Fatalf("%v: %q is %v, %v", d, FormatAge(d), got, err)
		}
	})
}
