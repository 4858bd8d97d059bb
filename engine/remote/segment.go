package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// head is what a segment says before its bundle: one line of JSON.
type head struct {
	Machine string   `json:"machine,omitempty"` // in the first segment of a writer
	Root    string   `json:"root,omitempty"`    // of the project there, quoted as Go does; likewise
	Before  string   `json:"before,omitempty"`  // stamp of the segment that it continues
	Packs   []string `json:"packs,omitempty"`   // stamps of the packs that its commits need, and no segment before it named
}

// object is what a segment or pack is before it is sealed: the head, which is empty in a pack, and a bundle.
func (h head) object(bundle []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	return append(append(line, '\n'), bundle...), err
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
