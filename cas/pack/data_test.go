package pack

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// text is n bytes that compress, different for every seed.
func text(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "line %d of %d: %x\n", len(b), seed, r.Uint32()%64)
	}
	return b[:n]
}

// noise is n bytes that do not compress.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte(slices.Repeat(binary.LittleEndian.AppendUint64(nil, seed), 4))).Read(b) // it never fails
	return b
}
