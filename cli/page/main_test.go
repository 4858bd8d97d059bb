package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/cli/page"
	"github.com/rewind-cli/rewind/engine/account"
)

func TestMain(m *testing.M) {
	if !strings.HasSuffix(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), ".test") { // a process that a hook detached
		os.Exit(cli.Main(os.Args, account.Environment(), cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	page.SetProgram(cli.Run, cli.Main)
	os.Exit(m.Run())
}
