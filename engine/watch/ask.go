package watch

import "time"

// Question is what one who is about to look at a tree sends.
type Question struct {
	Rules uint64 `json:"rules"` // the hash of those by which it looks
	Cache string `json:"cache"` // identifies its stat cache; "": it has none

	own bool // it comes from the process that watches
}

// Answer says what may differ from a stat cache. Paths are relative to the root and of any bytes.
type Answer struct {
	PID         int       `json:"pid"`
	Since       time.Time `json:"since"` // it watches
	Directories int       `json:"directories"`
	Known       bool      `json:"known"`           // nothing but what follows; false: everything is to be looked at
	Paths       [][]byte  `json:"paths,omitempty"` // each of these, and that it is there
	Trees       [][]byte  `json:"trees,omitempty"` // directories with all below them

	fits     bool // who asked looks by the rules of the tree
	position uint64
	asked    moment
	whole    moment // when everything was looked at last
}

// Report says how the look ended that followed an answer.
type Report struct {
	Cache string   `json:"cache"`           // identifies the stat cache that has now what was seen; "": there is none
	Again [][]byte `json:"again,omitempty"` // paths that the next look has to include
	Whole bool     `json:"whole"`           // everything was looked at
}
