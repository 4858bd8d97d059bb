package remote

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"

	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// head is what a segment says before its bundle: one line of JSON.
type head struct {
	Machine string   `json:"machine,omitempty"` // in the first segment of a writer
	Root    string   `json:"root,omitempty"`    // of the project there, quoted as Go does; likewise
	Before  string   `json:"before,omitempty"`  // stamp of the segment that it continues
	MAC     string   `json:"mac,omitempty"`     // of the rest of the head and of the bundle, by the remote's key; none where the writer does not have it
	Packs   []string `json:"packs,omitempty"`   // stamps of the packs that its commits need, and no segment before it named

	by keyring.Key // what it was sealed for, where it was read
}

// object is what a segment or pack is before it is sealed: the head, which is empty in a pack, and a bundle.
func (h head) object(bundle []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	return append(append(line, '\n'), bundle...), err
}

// padded is object with spaces behind the head, so that its length is one of few: what a listing shows of it says little of what is in it.
func (h head) padded(bundle []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	n := len(line) + 1 + len(bundle)
	return slices.Concat(line, bytes.Repeat([]byte(" "), lengthen(n)-n), []byte("\n"), bundle), err
}

// lengthen is the next of the lengths that objects have before they are sealed, by Padmé: at most a sixteenth is added, and a thirtieth from 64 KiB on.
// What is added is part of the line of the head, which a reader bounds. Tests take it away.
var lengthen = func(n int) int {
	e := bits.Len(uint(n)) - 1
	step := min(1<<max(0, e-bits.Len(uint(e))), maxConfig/2)
	return (n + step - 1) / step * step
}

// The purposes of a mark: they differ, so that neither a segment nor an index of packs can be taken for the other. A pack needs no mark: the
// segment that names it has its hash.
const (
	ofSegment = "rewind remote: mark of a segment"
	ofIndex   = "rewind remote: mark of an index of packs"
)

// sign gives an object the mark of whoever has the remote's key.
func (h *head) sign(k keyring.Key, purpose string, body []byte) (err error) {
	h.MAC, err = h.mac(k, purpose, body)
	return err
}

// signed reports whether whoever made an object had the key that it is sealed for.
func (h head) signed(purpose string, body []byte) bool {
	want, err := h.mac(h.by, purpose, body)
	return err == nil && h.MAC != "" && subtle.ConstantTimeCompare([]byte(want), []byte(h.MAC)) == 1
}

func (h head) mac(k keyring.Key, purpose string, body []byte) (string, error) {
	h.MAC = ""
	data, err := h.object(body)
	if err != nil {
		return "", err
	}
	return k.MAC(purpose, data)
}

// parseObject takes an object apart again.
func parseObject(name string, data []byte) (h head, bundle []byte, err error) {
	line, bundle, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(line) > maxConfig {
		return h, nil, &BadObjectError{name, "it has no head"}
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, &BadObjectError{name, "its head is not readable: " + err.Error()}
	}
	for _, s := range h.Packs {
		if _, ok := parseStamp(s); !ok {
			return h, nil, &BadObjectError{name, fmt.Sprintf("its head names a pack %q", s)}
		}
	}
	return h, bundle, nil
}
