package settings

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad: whatever a settings file holds, there are settings, and each is within its limits.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"tier": "minimal", "retention": {"maxCheckpoints": 5, "maxAge": "3d"}, // c
	}`))
	f.Add([]byte(`{"minFreeDisk": 1e400, "maxFileSize": "99999999999999999999GiB", "tier": ["\ud800"]}`))
	f.Add([]byte(`[[[[[[[[[[`))
	file := filepath.Join(f.TempDir(), "config.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _ := Load(Options{ProjectFile: file, Getenv: func(string) string { return "" }})
		if s == nil || s.MinFreeDisk < 0 || s.MaxFileSize < 0 || s.Retention.MaxSize < 0 || s.Retention.MaxAge < 0 || s.Retention.MaxCheckpoints < 0 || s.Tier == "" {
			t.Fatalf("%q gives %+v", data, s)
		}
	})
}
