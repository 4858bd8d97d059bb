package pack

import (
	"fmt"
	"math/rand/v2"
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
	r := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
