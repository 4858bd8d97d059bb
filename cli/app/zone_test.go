package app

import (
	"testing"
	"time"
)

func TestPosixZone(t *testing.T) {
	winter, summer := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	for tz, want := range map[string][2]int{
		"CET-1CEST,M3.5.0,M10.5.0/3": {1, 2}, "XYZ5": {-5, -5}, "UTC-3": {3, 3}, "<+0330>-3:30": {3, 3}, ":ABC-2": {2, 2},
		"NZST-12NZDT,M9.5.0,M4.1.0/3": {13, 12},
	} {
		zone := PosixZone(tz)
		if zone == nil {
			t.Errorf("%s is not understood", tz)
			continue
		}
		_, w := winter.In(zone).Zone()
		_, s := summer.In(zone).Zone()
		if w/3600 != want[0] || s/3600 != want[1] {
			t.Errorf("%s: %d and %d hours", tz, w/3600, s/3600)
		}
	}
	for _, tz := range []string{"", "UTC", "Europe/Berlin", "nonsense", "5", "a1", "CET-1CEST,nonsense9\n", "/etc/localtime"} {
		if zone := PosixZone(tz); zone != nil {
			t.Errorf("%q is %s", tz, zone)
		}
	}
}
