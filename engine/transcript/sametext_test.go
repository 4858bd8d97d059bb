package transcript

import "testing"

func TestSameText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{" fix it\n", "fix it", true},
		{"fix it", "fix that", false},
		{"[forgotten]*", "first please", true},
		{"use [forgotten]*** here", "use hunter2hunter2 here", true},
		{"use hunter2hunter2 here", "use [forgotten]*** here", true},
		{"pin **** now", "pin 1234 now", true},
		{"pin **** now", "pin 1234 later", false},
		{"use [forgotten] here", "use here", false},
		{"**bold** words", "other words", false},
		{"a(b[forgotten]c", "a(bxyzc", true},
		{"", "", true},
	} {
		if got := SameText(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
