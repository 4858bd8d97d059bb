package page

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// Columns say what rows by themselves do, made ahead or not.
func TestUIColumns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, save := range []string{"second", "<third> \u202e", "second", "fifth"} {
		l.write(filepath.Join(l.env.Dir, save+".txt"), save+"\n")
		l.run(l.env, "save", save)
	}
	l.run(l.env, "pin", "2")
	l.run(l.env, "rename", "1", "a-name")
	l.run(l.env, "restore", "3", "--yes")
	place := l.logIn(l.ui(l.env).URL)
	want := l.rows(place)
	for range 3 {
		var got struct {
			Rows    []rowView
			Columns struct {
				Count                                                   int
				IDs                                                     string
				Times                                                   []int64
				Numbers, Flags, Kind, Why, Text, Agent, Session, Change []int
				Kinds, Whys, Texts, Agents, Sessions                    []string
				Changes                                                 []*timeline.Counts
				Stored                                                  []uint64
				Names                                                   map[string]string
			}
		}
		l.get("/api/v1"+place+"/timeline?form=columns", &got)
		c := got.Columns
		if got.Rows != nil || c.Count != len(want) {
			t.Fatalf("%d rows, not %d", c.Count, len(want))
		}
		ids := strings.Split(c.IDs, " ")
		ms, n := int64(0), 0
		for i, w := range want {
			ms += c.Times[i]
			v := rowView{Row: screen.Row{ID: ids[i], Why: c.Whys[c.Why[i]], Text: c.Texts[c.Text[i]], Name: c.Names[strconv.Itoa(i)],
				Prompt: c.Flags[i]&flagPrompt > 0, Dim: c.Flags[i]&flagDim > 0, Pinned: c.Flags[i]&flagPinned > 0},
				Kind: c.Kinds[c.Kind[i]], Agent: c.Agents[c.Agent[i]], Session: c.Sessions[c.Session[i]],
				Changes: c.Changes[c.Change[i]], Stored: c.Stored[i], Call: c.Flags[i]&flagCall > 0}
			if c.Numbers[i] != 0 {
				n += c.Numbers[i]
				v.N = strconv.Itoa(n)
			}
			at, err := time.Parse(time.RFC3339Nano, w.Time)
			if w.ID != "@" && (err != nil || at.UnixMilli() != ms) {
				t.Errorf("row %d: %d ms, not %s (%v)", i, ms, w.Time, err)
			}
			w.Time, w.Note, w.Talk = "", "", false // the page does not show them
			is, _ := json.Marshal(v)
			should, _ := json.Marshal(w)
			if string(is) != string(should) {
				t.Errorf("row %d: %s, not %s", i, is, should)
			}
		}
	}
	if !slices.ContainsFunc(want, func(r rowView) bool { return r.Pinned }) || !slices.ContainsFunc(want, func(r rowView) bool { return r.Name != "" }) ||
		!slices.ContainsFunc(want, func(r rowView) bool { return r.ID[0] == '#' }) {
		t.Errorf("not all kinds of rows: %+v", want)
	}
}
