package report

import "time"

// Role of a subject in its line.
type Role string

const (
	Ours  Role = "rewind"
	Floor Role = "floor" // what the machine can do at all
	Peer  Role = "peer"
)

// Report is one run of the benchmarks.
type Report struct {
	Started time.Time `json:"started"`
	Took    Millis    `json:"took_ms"`
	Machine string    `json:"machine"`
	Command string    `json:"command"`
	Tools   []string  `json:"tools"`    // versions of what was compared with
	Notes   []string  `json:"notes"`    // what was left out, and why
	LoadMin float64   `json:"load_min"` // load average, before each line
	LoadMax float64   `json:"load_max"`
	Lines   []*Line   `json:"lines"`
	Curves  []*Curve  `json:"curves"`
}

// Line is one question with the answers of all subjects.
type Line struct {
	What     string     `json:"what"` // "save, nothing changed"
	Tree     string     `json:"tree"` // "GOROOT, 15,036 files"
	Load     float64    `json:"load"`
	Detail   bool       `json:"detail,omitempty"` // not in the short table
	Subjects []*Subject `json:"subjects"`
	Budgets  []Budget   `json:"budgets,omitempty"`
	Notes    []string   `json:"notes,omitempty"`
}

// Subject is one program in one line. Zero values were not measured.
type Subject struct {
	Name     string   `json:"name"`
	Role     Role     `json:"role"`
	Times    []Millis `json:"times_ms,omitempty"` // every sample, in order
	Min      Millis   `json:"min_ms,omitempty"`
	Median   Millis   `json:"median_ms,omitempty"`
	P90      Millis   `json:"p90_ms,omitempty"`
	P99      Millis   `json:"p99_ms,omitempty"`   // of a hundred samples at least
	PeakRSS  int64    `json:"peak_rss,omitempty"` // bytes
	Disk     int64    `json:"disk,omitempty"`     // bytes allocated; what of, says the line
	Syscalls int      `json:"syscalls,omitempty"`
	Fsyncs   int      `json:"fsyncs,omitempty"`
	Requests *float64 `json:"requests,omitempty"` // to a server, in the mean
	Wire     int64    `json:"wire,omitempty"`     // bytes of these and of the answers, with headers, in the mean
	Failed   string   `json:"failed,omitempty"`   // why there is no number
}

// Millis is a duration in milliseconds.
type Millis float64

// ToMillis converts a duration.
func ToMillis(d time.Duration) Millis { return Millis(float64(d) / 1e6) }

// Budget is a promise and what became of it.
type Budget struct {
	What  string  `json:"what"` // "≤ 1.2 × floor + 5 ms"
	Got   float64 `json:"got"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit"` // "ms", "MB", "bytes", "×", "requests"
}

// Met says whether the promise is kept.
func (b Budget) Met() bool { return b.Got <= b.Limit }

// Curve is a plot: one series per subject over the same x.
type Curve struct {
	Name   string   `json:"name"` // of the file
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x,omitempty"`
	Series []Series `json:"series"`
}

// Series are points in order of x.
type Series struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
}

// Find the first subject with a role that was measured; nil: none.
func (l *Line) Find(role Role) *Subject {
	for _, s := range l.Subjects {
		if s.Role == role && len(s.Times) > 0 {
			return s
		}
	}
	return nil
}

// BestPeer is the fastest peer; nil: none was measured.
func (l *Line) BestPeer() *Subject {
	var best *Subject
	for _, s := range l.Subjects {
		if s.Role == Peer && len(s.Times) > 0 && (best == nil || s.Median < best.Median) {
			best = s
		}
	}
	return best
}
