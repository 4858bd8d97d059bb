package workload

import "math/bits"

// random is splitmix64. Its own, since the standard library does not promise
// the same numbers from release to release.
type random uint64

// derive gives the generator of one thing (a file, a turn) below a seed.
func derive(seed uint64, parts ...uint64) *random {
	r := random(seed)
	for _, p := range parts {
		r = random(r.next() ^ p*0x9e3779b97f4a7c15)
	}
	return &r
}

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number in [0, n).
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}

// chance is true n times in 100.
func (r *random) chance(n int) bool { return r.below(100) < n }
