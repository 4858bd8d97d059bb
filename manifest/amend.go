package manifest

import (
	"encoding/binary"
	"time"

	"github.com/rewind-cli/rewind/manifest/wire"
)

// Amend replaces records that the log got earlier: they read as given here. It
// is how something is forgotten that records say or refer to. Names and pins stay
// what marks have made of them. When the log is rewritten, the amended records take the
// old ones' places, and the Amend goes.
type Amend struct {
	Time    time.Time
	Records []Sequenced // checkpoints, operations and touches, by their sequence number; an empty touch drops one
}

func (a *Amend) fields(c *codec) {
	c.time(1, &a.Time)
	var list []byte
	for _, r := range a.Records {
		list = wire.AppendText(binary.AppendUvarint(list, r.Seq), string(r.Record.Append(nil)))
	}
	parts := c.list(2, list)
	for parts.More() {
		seq := parts.Uvarint()
		rec, err := ParseRecord([]byte(parts.Text()))
		if err != nil {
			parts.Fail("amended record: " + err.Error())
		}
		if rec.Amend != nil {
			parts.Fail("an amendment of an amendment")
		}
		a.Records = append(a.Records, Sequenced{Seq: seq, Record: rec})
	}
	c.fail("", parts.Err)
}

// amend applies an Amend. Records that are unknown by now change nothing.
func (s *state) amend(a *Amend) error {
	for _, r := range a.Records {
		switch {
		case r.Record.Checkpoint != nil:
			old, err := s.byID(r.Record.Checkpoint.ID)
			if err != nil {
				return err
			}
			if old == nil {
				continue
			}
			c := s.alter(old)
			seq, name, pinned := c.Seq, c.Name, c.Pinned
			*c = *r.Record.Checkpoint
			c.Seq, c.Name, c.Pinned = seq, name, pinned
			s.rewritten[seq] = true
		case r.Record.Operation != nil:
			o := *r.Record.Operation
			o.Seq = r.Seq
			s.amended[o.Seq] = &o
			for i := range s.operations {
				if s.operations[i].Seq == o.Seq {
					s.operations[i] = &o
				}
			}
		case r.Record.Touch != nil:
			if err := s.amendTouch(r.Seq, *r.Record.Touch); err != nil {
				return err
			}
		}
	}
	return nil
}
