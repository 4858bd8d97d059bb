package workload

import "strings"

// words of which lines are made: what is frequent in source code.
var words = strings.Fields(`if err return nil func string int for range error := = == != { } ( ) len append make
type struct interface case switch break continue default package import var const map chan go defer select true false
buffer reader writer index offset length value name path file node list tree table entry state next prev left right
count size limit start end begin block chunk header record index hash cache lock open close read write update delete
context request response handler server client config option result status message event source target parent child
self this static void char unsigned long struct include define ifdef endif register device driver memory page flags`)

// Content is source-like text of exactly size bytes: lines of indented words and
// some numbers. zstd makes about a quarter of it.
func Content(seed uint64, size int) []byte {
	r := derive(seed)
	out := make([]byte, 0, size+128)
	for len(out) < size {
		out = appendLine(out, r)
	}
	out = out[:size]
	if size > 0 {
		out[size-1] = '\n'
	}
	return out
}

func appendLine(out []byte, r *random) []byte {
	bits := r.next()
	for range bits & 3 {
		out = append(out, '\t')
	}
	n := 2 + int(bits>>2&7)
	bits >>= 5
	for range n {
		if bits < 1<<16 {
			bits = r.next()
		}
		if bits&15 == 0 {
			out = appendHex(out, bits>>4&0xffff)
			bits >>= 20
		} else {
			out = append(out, words[(bits>>4)%uint64(len(words))]...)
			bits >>= 12
		}
		out = append(out, ' ')
	}
	out[len(out)-1] = '\n'
	return out
}

func appendHex(out []byte, n uint64) []byte {
	for shift := 12; shift >= 0; shift -= 4 {
		out = append(out, "0123456789abcdef"[n>>shift&15])
	}
	return out
}
