//go:build page

package main

import _ "github.com/rewind-cli/rewind/cli/web"
