package remote

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/zeebo/blake3"
)

// head is what a segment says before its bundle: one line of JSON.
type head struct {
	Machine string   `json:"machine,omitempty"` // in the first segment of a writer
	Root    string   `json:"root,omitempty"`    // of the project there, quoted as Go does; likewise
	Before  string   `json:"before,omitempty"`  // stamp of the segment that it continues
	MAC     string   `json:"mac,omitempty"`     // of the rest of the head and of the bundle, by the remote's key; none where the writer does not have it
	Packs   []string `json:"packs,omitempty"`   // stamps of the packs that its commits need, and no segment before it named
}

// object is what a segment or pack is before it is sealed: the head, which is empty in a pack, and a bundle.
func (h head) object(bundle []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	return append(append(line, '\n'), bundle...), err
}

// sign gives a segment the mark of whoever has the remote's key.
func (h *head) sign(k Key, bundle []byte) (err error) {
	h.MAC, err = h.mac(k, bundle)
	return err
}

// signed reports whether whoever made a segment had the remote's key. A pack needs no mark: the segment that names it has its hash.
func (h head) signed(k Key, bundle []byte) bool {
	want, err := h.mac(k, bundle)
	return err == nil && h.MAC != "" && subtle.ConstantTimeCompare([]byte(want), []byte(h.MAC)) == 1
}

func (h head) mac(k Key, bundle []byte) (string, error) {
	h.MAC = ""
	data, err := h.object(bundle)
	if err != nil {
		return "", err
	}
	var key [32]byte
	blake3.DeriveKey("rewind remote: mark of a segment", []byte(k.String()), key[:])
	m, err := blake3.NewKeyed(key[:])
	if err != nil {
		return "", err
	}
	m.Write(data)
	return hex.EncodeToString(m.Sum(nil)), nil
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
