package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Shared writes the page as one file that needs no server: the same code, and the answers to what it asks in
// blocks, each packed by itself, so that a large file opens without being unpacked. What a block holds is
// base64, and so can end no element, whatever it says. Nothing of it can run: the file allows what it
// brings itself, by its sums, and no request to anywhere.
type Shared struct {
	w      io.Writer
	script []byte
	blocks int
	packer *gzip.Writer
	packed bytes.Buffer
}

// blockID begins the ids of blocks; a number follows.
const blockID = "block-"

// NewShared writes the beginning of the file. Nothing of others is in it.
func NewShared(w io.Writer) (*Shared, error) {
	s := &Shared{w: w}
	s.packer, _ = gzip.NewWriterLevel(&s.packed, gzip.BestCompression) // the level is one that there is
	var all [3][]byte
	for i, name := range []string{"whole.js", "app.css", "colour-worker.js"} {
		var err error
		if all[i], err = file(name); err != nil {
			return nil, err
		}
		if name != "colour-worker.js" && endsElement(all[i]) {
			return nil, fmt.Errorf("%s cannot stand inside a page", name)
		}
	}
	s.script = all[0]
	_, err := fmt.Fprintf(w, sharedHead, sharedPolicy(s.script, all[1]), all[1])
	if err == nil {
		err = s.element("colours", all[2])
	}
	return s, err
}

// sharedHead is followed by blocks. The policy comes before what it is about.
const sharedHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>rewind</title>
<style>%s</style>
</head>
<body><div id="app"><p class="wait">Loading…</p></div><noscript>This page needs JavaScript.</noscript>
`

// sharedPolicy is policy for a file: what may run and look is named by its sum. Colours of code are found by a
// worker, which the page makes from what it holds.
func sharedPolicy(script, style []byte) string {
	return strings.Join([]string{"default-src 'none'", "script-src '" + sourceSum(script) + "'", "style-src '" + sourceSum(style) + "'", "worker-src " + "blob:",
		"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types rewind-worker"}, "; ")
}

func sourceSum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// endsElement reports whether a text would be more than the content of its element: a browser reads on after it.
func endsElement(data []byte) bool {
	low := bytes.ToLower(data)
	return bytes.Contains(low, []byte("</script")) || bytes.Contains(low, []byte("</style")) || bytes.Contains(low, []byte("<!--")) || bytes.Contains(low, []byte("<script")) ||
		bytes.ContainsAny(data, "\r\x00") // which a browser reads as something else, so that the sum is another one
}

// Block adds one, and gives its number, from 0.
func (s *Shared) Block(v any) (int, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	n := s.blocks
	s.blocks++
	return n, s.element(fmt.Sprint(blockID, n), data)
}

// End writes what the page asks for first, and the page itself.
func (s *Shared) End(index any) error {
	data, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := s.element("index", data); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "<script type=\"module\">%s</script>\n</body>\n</html>\n", s.script)
	return err
}

// element writes bytes into an element that a browser only keeps.
func (s *Shared) element(id string, data []byte) error {
	s.packed.Reset()
	s.packer.Reset(&s.packed)
	if _, err := s.packer.Write(data); err != nil {
		return err
	}
	if err := s.packer.Close(); err != nil {
		return err
	}
	out := append([]byte(nil), `<script type="application/gzip" id="`+id+`">`...)
	out = base64.StdEncoding.AppendEncode(out, s.packed.Bytes())
	out = append(out, "</script>\n"...)
	_, err := s.w.Write(out)
	return err
}
