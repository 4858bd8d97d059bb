//go:build given

package main

import (
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/dgraph-io/badger/v4/table"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/zeebo/blake3"
)
