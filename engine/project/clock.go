package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// StartTime is the present on the clock of the project's file system: what a file
// that is changed now would get as its change time.
func (p *Project) StartTime() (time.Time, error) {
	now := p.Env.Time()
	if p.ReadOnly != nil || p.at.Mode == account.GlobalMode {
		return now, nil // the same kernel's clock; local file systems use no other
	}
	file := filepath.Join(p.at.Store, account.TmpName, "clock")
	err := os.Chtimes(file, now, now)
	if errors.Is(err, os.ErrNotExist) {
		if err = account.WriteCache(file, nil, p.Owner); err == nil {
			err = os.Chtimes(file, now, now)
		}
	}
	if err != nil {
		return now, fmt.Errorf("read the file system's clock: %w", err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		return now, err
	}
	ctime, _ := account.ChangeTime(info)
	return time.Unix(0, ctime), nil
}
