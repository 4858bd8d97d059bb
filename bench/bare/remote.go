//go:build remote

package main

import _ "github.com/rewind-cli/rewind/engine/remote"
