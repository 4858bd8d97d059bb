package patch

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
)

// digits are those of git's base 85.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// perLine is how many bytes a line holds: its first letter says how many, A to Z 1 to 26, a to z 27 to 52.
const perLine = 52

// literal writes one content whole, deflated.
func (w *writer) literal(data []byte) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(data) // into memory: no error
	z.Close()
	fmt.Fprintf(&w.text, "literal %d\n", len(data))
	for rest := packed.Bytes(); len(rest) > 0; {
		line := rest[:min(len(rest), perLine)]
		rest = rest[len(line):]
		if n := byte(len(line)); n <= 26 {
			w.text.WriteByte('A' + n - 1)
		} else {
			w.text.WriteByte('a' + n - 27)
		}
		for len(line) > 0 {
			var word [4]byte // the last one filled up with zeros
			line = line[copy(word[:], line):]
			v := binary.BigEndian.Uint32(word[:])
			var out [5]byte
			for i := len(out) - 1; i >= 0; i-- {
				out[i] = digits[v%85]
				v /= 85
			}
			w.text.Write(out[:])
		}
		w.text.WriteByte('\n')
	}
	w.text.WriteByte('\n')
}
