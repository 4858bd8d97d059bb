//go:build !linux

package cli_test

import (
	"io"
	"os"
)

func programInput() io.Reader { return os.Stdin }
