package manifest

import (
	"slices"
	"strconv"
)

// joinWindows is what several checkpoints hold of windows as one of them has it: in order of time, each once, the
// newest that MaxWindows has room for. Parts that cannot be read are left out.
func joinWindows(parts ...string) string {
	var all []Window
	for _, part := range parts {
		windows, err := ParseWindows(part)
		if err == nil {
			all = append(all, windows...)
		}
	}
	return BoundWindows(all)
}

// BoundWindows is AppendWindows of windows in order of time, each once, the newest that MaxWindows has room for.
func BoundWindows(windows []Window) string {
	windows = slices.Clone(windows)
	slices.SortStableFunc(windows, func(a, b Window) int { return a.Time.Compare(b.Time) })
	seen := make(map[string]bool, len(windows))
	windows = slices.DeleteFunc(windows, func(w Window) bool {
		key := string(AppendWindows(nil, []Window{w}))
		known := seen[key]
		seen[key] = true
		return known
	})
	data := AppendWindows(nil, windows)
	for len(data) > MaxWindows { // what one takes depends on those before it
		n := min(len(windows), max(2, len(windows)/8))
		windows = append([]Window{Lost(windows[:n])}, windows[n:]...)
		data = AppendWindows(nil, windows)
	}
	return string(data)
}

// Lost is the window in place of some, in order of time, that are left out; Summary says how many.
func Lost(windows []Window) Window {
	n := 0
	for _, w := range windows {
		if w.Edge != WindowLost {
			n++
		} else if count, err := strconv.Atoi(w.Summary); err == nil {
			n += count
		}
	}
	return Window{Time: windows[len(windows)-1].Time, Edge: WindowLost, Summary: strconv.Itoa(n)}
}

// joinChanged is what two checkpoints, one after the other, hold of changed paths as the later one has it: of a path that
// both have, the later time. A part that cannot be read is left out.
func joinChanged(older, newer string) string {
	a, _ := ParseChanged(older) // nil where it is damaged
	b, _ := ParseChanged(newer)
	if len(a) == 0 || len(b) == 0 && newer != "" {
		return newer
	}
	var joined []Changed
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && comparePaths(a[0].Path, b[0].Path) < 0:
			joined, a = append(joined, a[0]), a[1:]
		default:
			if len(a) > 0 && a[0].Path == b[0].Path {
				a = a[1:]
			}
			joined, b = append(joined, b[0]), b[1:]
		}
	}
	return string(AppendChanged(nil, joined))
}
