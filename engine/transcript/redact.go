package transcript

import (
	"bytes"
	"io"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Redactor gives stored conversations other bytes of the same length. Offsets stay, and the
// sums that say what a capture goes on from are those of the agent's own file. So
// what is appended to that file later is captured as before, and what was redacted stays so until the agent writes its file anew.
type Redactor struct {
	Store Store
	// Redact changes whole lines in place and reports how many places it changed.
	Redact func(data []byte) int
	Count  int // places, each stored run of lines counted once

	lists, sides map[oid.ID]oid.ID
	runs         map[string][]oid.ID
}

// Conversation gives the conversation that takes the place of a stored one: the same
// id where there was nothing to change.
func (r *Redactor) Conversation(content oid.ID) (oid.ID, error) {
	if r.lists == nil {
		r.lists, r.sides, r.runs = map[oid.ID]oid.ID{}, map[oid.ID]oid.ID{}, map[string][]oid.ID{}
	}
	if id, ok := r.lists[content]; ok || content == (oid.ID{}) {
		return id, nil
	}
	chain, err := readChain(r.Store, content)
	if err != nil {
		return content, err
	}
	var entries []*Entry
	before := make([][]Entry, len(chain))
	for i := len(chain) - 1; i >= 0; i-- {
		l := *chain[i].list
		l.Entries = append([]Entry(nil), l.Entries...)
		before[i], chain[i].list = chain[i].list.Entries, &l
		for j := range l.Entries {
			entries = append(entries, &l.Entries[j])
		}
	}
	if err := r.entries(entries); err != nil {
		return content, err
	}
	parent := oid.ID{}
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i].list
		changed := l.Parent != parent
		l.Parent = parent
		for j := range l.Entries {
			changed = changed || l.Entries[j].ID != before[i][j].ID
		}
		sides, err := r.side(l.Sides)
		if err != nil {
			return content, err
		}
		changed = changed || sides != l.Sides
		l.Sides = sides
		parent = chain[i].id
		if changed {
			if parent, _, err = r.Store.Put(bytes.NewReader(l.Append(nil))); err != nil {
				return content, err
			}
		}
		r.lists[chain[i].id] = parent
	}
	return parent, nil
}

func (r *Redactor) side(id oid.ID) (oid.ID, error) {
	if now, ok := r.sides[id]; ok || id == (oid.ID{}) {
		return now, nil
	}
	states, err := readSides(r.Store, id)
	if err != nil {
		return id, err
	}
	changed := false
	for i := range states {
		content, err := r.Conversation(states[i].Content)
		if err != nil {
			return id, err
		}
		changed = changed || content != states[i].Content
		states[i].Content = content
	}
	now := id
	if changed {
		if now, _, err = r.Store.Put(bytes.NewReader(appendSides(nil, states))); err != nil {
			return id, err
		}
	}
	r.sides[id] = now
	return now, nil
}

// entries redacts segments. Those that one line goes across are redacted together.
func (r *Redactor) entries(all []*Entry) error {
	for len(all) > 0 {
		var key, data []byte
		n := 0
		for n < len(all) {
			key = append(key, all[n].ID[:]...)
			if _, known := r.runs[string(key)]; known {
				n++
				break
			}
			src, err := r.Store.Get(all[n].ID)
			if err != nil {
				return err
			}
			part, err := io.ReadAll(src)
			src.Close()
			if err != nil {
				return err
			}
			data = append(data, part...)
			if n++; len(part) > 0 && part[len(part)-1] == '\n' {
				break
			}
		}
		ids, known := r.runs[string(key)]
		if !known {
			count := r.Redact(data)
			r.Count += count
			for _, e := range all[:n] {
				id := e.ID
				if count > 0 {
					var err error
					if id, _, err = r.Store.Put(bytes.NewReader(data[:e.Length])); err != nil {
						return err
					}
				}
				ids, data = append(ids, id), data[e.Length:]
			}
			r.runs[string(key)] = ids
		}
		for i, id := range ids {
			all[i].ID = id
		}
		all = all[n:]
	}
	return nil
}
