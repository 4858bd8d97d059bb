//go:build deps

// Package deps keeps the modules pinned until the packages that need them land.
package deps

import (
	_ "charm.land/bubbletea/v2"
	_ "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/dgraph-io/badger/v4"
	_ "github.com/gofrs/flock"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/klauspost/pgzip"
	_ "github.com/rogpeppe/go-internal/diff"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/pflag"
	_ "github.com/tailscale/hujson"
	_ "github.com/zeebo/blake3"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
