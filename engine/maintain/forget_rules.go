package maintain

import (
	"errors"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// ignoring takes the text out of a checkpoint's ignore rules, which have the text of git's exclude files, and reports whether it was there.
func (f *textForgetter) ignoring(c *manifest.Checkpoint) (changed bool, err error) {
	if c.Rules == (oid.ID{}) {
		return false, nil
	}
	id, known := f.rules[c.Rules]
	if !known {
		id, err = f.redactRules(c.Rules)
		if _, unknown := errors.AsType[*ignore.DecodeError](err); unknown || project.IsLost(err) {
			f.unread = append(f.unread, *c)
			return false, nil
		} else if err != nil {
			return false, err
		}
		f.rules[c.Rules] = id
		if id != c.Rules {
			f.were = append(f.were, c.Rules)
		}
	}
	if changed = id != c.Rules; changed {
		c.Rules = id
		f.places++
	}
	return changed, nil
}

func (f *textForgetter) redactRules(id oid.ID) (oid.ID, error) {
	data, err := f.tx.Get(nil, id)
	if err != nil {
		return id, err
	}
	data, changed, err := f.rulesWithout(data)
	if err != nil || !changed {
		return id, err
	}
	return f.tx.Put(data)
}

// rulesWithout are encoded rules without the text, and whether they had it.
func (f *textForgetter) rulesWithout(data []byte) (_ []byte, changed bool, err error) {
	rules, err := ignore.Decode(data)
	if err != nil {
		return nil, false, err
	}
	rules, changed, err = rules.Redact(func(b []byte) int { return f.mark.text(b, 0) })
	if err != nil {
		return nil, false, err
	}
	return rules.Encode(), changed, nil
}

// rulesSay reports whether the rules of a checkpoint of another store have the text, or cannot be read.
func (f *textForgetter) rulesSay(s *cas.Store, id oid.ID) bool {
	if id == (oid.ID{}) || f.looked[id] {
		return false
	}
	data, err := s.Get(nil, id)
	has := false
	if err == nil {
		_, has, err = f.rulesWithout(data)
	}
	f.looked[id] = !has && err == nil
	return !f.looked[id]
}
