package project

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// TornName is the file of the checkpoints that a repair could not make whole: an id in each line.
const TornName = "torn"

// maxTorn bounds what is read of it, in bytes.
const maxTorn = 64 << 20

func (p *Project) tornFile() string { return filepath.Join(p.at.Store, TornName) }

// ReadTorn lists the checkpoints that the last repair could not make whole. Some may have been removed since.
func (p *Project) ReadTorn() (ids []manifest.CheckpointID) {
	data, err := vfs.ReadSmall(p.tornFile(), maxTorn, vfs.NoFollow)
	if err != nil {
		return nil // verify finds them again
	}
	for line := range bytes.Lines(data) {
		if id, err := manifest.ParseCheckpointID(string(bytes.TrimSpace(line))); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// NoteTorn notes which checkpoints a repair could not make whole.
func (p *Project) NoteTorn(ids []manifest.CheckpointID) error {
	if len(ids) == 0 {
		return account.RemoveIfThere(p.tornFile())
	}
	var text []byte
	for _, id := range ids {
		text = fmt.Appendln(text, id)
	}
	return account.WriteFile(p.tornFile(), text, p.Owner)
}

// Torn lists those of ReadTorn that are still there.
func (p *Project) Torn(ctx context.Context) (torn []Listed, err error) {
	ids := p.ReadTorn()
	if len(ids) == 0 {
		return nil, nil
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for _, id := range ids {
			c, ok, err := db.ByID(id)
			if err != nil {
				return err
			}
			if ok {
				torn = append(torn, Listed{Checkpoint: c, N: db.Position(c.Seq)})
			}
		}
		return nil
	})
	return torn, err
}
