package scan

import (
	"testing"
	"time"
)

func TestRacy(t *testing.T) {
	start := time.Unix(1_700_000_000, 500_000_000)
	for _, c := range []struct {
		what  string
		ctime time.Time
		want  bool
	}{
		{"long ago", start.Add(-time.Hour), false},
		{"more than a tick ago", start.Add(-fineGrain - 1), false},
		{"a tick ago", start.Add(-fineGrain), true},
		{"now", start, true},
		{"later", start.Add(time.Millisecond), true},
		{"next year", start.AddDate(1, 0, 0), true},
		{"beyond 2262, where nanoseconds no longer fit 64 bits", time.Unix(1<<34, 1), true},
		{"whole seconds, half a second ago", time.Unix(1_700_000_000, 0), true},
		{"whole seconds, 1.5 seconds ago", time.Unix(1_699_999_999, 0), true},
		{"whole seconds, 2.5 seconds ago", time.Unix(1_699_999_998, 0), false},
		{"before 1970", time.Unix(-5, 7), false},
	} {
		s := stat{ctime: c.ctime.Unix(), ctimeNs: int64(c.ctime.Nanosecond())}
		if got := s.racy(start); got != c.want {
			t.Errorf("%s: racy %v", c.what, got)
		}
	}
}

// TestFingerprintFields: each part of the tuple counts, and so does the seed.
func TestFingerprintFields(t *testing.T) {
	s := stat{size: 5, mtime: 1_700_000_000, mtimeNs: 1, ctime: 1_700_000_001, ctimeNs: 2, ino: 77, dev: 3, mode: modeRegular | 0o644}
	a, b := newSeed(1), newSeed(2)
	seen := map[uint64]string{a.fingerprint(&s): "itself"}
	for what, change := range map[string]func(*stat){
		"size": func(s *stat) { s.size++ }, "mode": func(s *stat) { s.mode ^= 0o100 },
		"mtime": func(s *stat) { s.mtime++ }, "mtime ns": func(s *stat) { s.mtimeNs++ },
		"ctime": func(s *stat) { s.ctime++ }, "ctime ns": func(s *stat) { s.ctimeNs++ },
		"inode": func(s *stat) { s.ino++ }, "device": func(s *stat) { s.dev++ },
		"times exchanged": func(s *stat) { s.mtime, s.mtimeNs, s.ctime, s.ctimeNs = s.ctime, s.ctimeNs, s.mtime, s.mtimeNs },
	} {
		v := s
		change(&v)
		fp := a.fingerprint(&v)
		if other, ok := seen[fp]; ok {
			t.Errorf("%s: as %s", what, other)
		}
		seen[fp] = what
	}
	if other, ok := seen[b.fingerprint(&s)]; ok {
		t.Errorf("another seed: as %s", other)
	}
}
