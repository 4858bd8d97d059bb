package watch

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	p := Pace{Quiet: 2 * time.Second, Least: 10 * time.Second, Most: time.Minute}
	for _, c := range []struct {
		what                string
		first, last, before time.Time
		want                time.Time
	}{
		{"one change", at(0), at(0), time.Time{}, at(2)},
		{"it goes on", at(0), at(5), time.Time{}, at(7)},
		{"it goes on for too long", at(0), at(59.5), time.Time{}, at(60)},
		{"just after a look", at(1), at(1), at(0), at(10)},
		{"long after a look", at(30), at(31), at(0), at(33)},
	} {
		if got := p.Due(c.first, c.last, c.before); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	if got := (Pace{Quiet: time.Second}).Due(at(0), at(3600), time.Time{}); !got.Equal(at(3601)) {
		t.Errorf("without a limit: %v", got)
	}
}
