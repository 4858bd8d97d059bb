package hook

import (
	"fmt"
	"github.com/rewind-cli/rewind/cas/vfs"
	"io"
	"os"
	"path/filepath"
)

// maxEnvFile bounds what is read of the file that an agent's shell reads.
const maxEnvFile = 1 << 20

// export appends what the agent's shell is to know to the file that it reads.
func (c *Call) export() error {
	file, root := c.Event.EnvFile, c.Project.Root()
	if !filepath.IsAbs(file) || len(c.Event.Exports(root, nil)) == 0 {
		return nil
	}
	failed := func(err error) error { return fmt.Errorf("export to the agent's shell: %w", err) }
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND|vfs.NoWait, 0o600)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return failed(fmt.Errorf("%s is not a regular file (%v)", file, err))
	}
	old, err := io.ReadAll(io.LimitReader(f, maxEnvFile))
	if err != nil {
		return failed(err)
	}
	if add := c.Event.Exports(root, old); len(add) > 0 {
		if _, err := f.Write(add); err != nil {
			return failed(err)
		}
	}
	return f.Close()
}
