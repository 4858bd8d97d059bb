package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/settings"
)

// settingsFile is the file with the settings of the project. Where the store's is empty or gone, it gets back what the
// mirror has of it; where it cannot be read, the mirror's is taken, and the person's stays unchanged. No settings at all would
// be taken for the defaults: what they ignore would be captured.
func (p *Project) settingsFile() (file string, warning *settings.Warning) {
	file = filepath.Join(p.at.Store, account.ConfigName)
	data, err := vfs.ReadSmall(file, settings.MaxFileBytes, vfs.NoFollow)
	gone := errors.Is(err, fs.ErrNotExist)
	if p.Copied || err != nil && !gone || err == nil && settings.Readable(data) {
		return file, nil
	}
	second := filepath.Join(account.MirrorDir(p.Env, p.ID), account.ConfigName)
	good, err := vfs.ReadSmall(second, settings.MaxFileBytes, vfs.NoFollow)
	empty := len(bytes.Trim(data, "\x00 \t\r\n")) == 0
	switch {
	case err != nil || !settings.Readable(good):
		if empty && !gone {
			warning = &settings.Warning{Source: file, Problem: "is empty, and the defaults apply; {} says that there are no settings"}
		}
		return file, warning
	case string(bytes.TrimSpace(good)) == "{}": // they are the same
		return file, nil
	case empty:
		if p.ReadOnly == nil && account.WriteFile(file, good, p.Owner) == nil {
			p.Notify(fmt.Sprintf("the settings in %s were lost and have been restored from their copy; {} in that file says that there are none", file))
			return file, nil
		}
		return second, &settings.Warning{Source: file, Problem: "is empty: its settings are lost, and their copy is used"}
	}
	return second, &settings.Warning{Source: file, Problem: "is not valid JSON; the last settings that were apply"}
}
