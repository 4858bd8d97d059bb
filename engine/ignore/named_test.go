package ignore

import "testing"

func TestNamed(t *testing.T) {
	n := NewNamed([]string{".env", ".env.*", "*.pem", ".idea/", "/conf/local", "deep/*.key", "!deep/public.key", "# *.go"})
	for path, want := range map[string]bool{
		".env": true, "a/b/.env": true, ".env.local": true, "a.env": false, "env": false, "x/y.pem": true, ".idea/a/b.xml": true, "sub/.idea/x": true,
		".idea": false, ".env/bin/python": false, "conf/local": true, "conf/local/x": true, "a/conf/local": false, "deep/a.key": true, "deep/public.key": false,
		"deep/er/a.key": false, "main.go": false, "": false, "/": false, "\xff.pem": true, "new\nline.pem": true,
	} {
		if got := n.Has(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
