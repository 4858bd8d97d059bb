package transcript

import "bytes"

// kinds is the table of an agent's messages that have the person's role and are
// not the person's words: facts about its clients, gathered from those that are
// named beside it. What is in no table counts as typed.
type kinds struct {
	// tags: a text that begins with <tag>, or <tag and an attribute, is the
	// client's own.
	tags []string
	// texts are other beginnings of texts that the client writes.
	texts []string
	// origins are the kinds of origin that a row can state, by whether the
	// person spoke. One that is not listed, or none, leaves it to the text.
	origins map[string]bool
	// sources are what a row can say of the way that a prompt came, in the same
	// manner: where the person spoke, a tag was typed.
	sources map[string]bool
}

// injected reports whether a text, without white space before it, was put in by the client.
func (k *kinds) injected(text []byte) bool {
	for _, t := range k.texts {
		if len(text) >= len(t) && string(text[:len(t)]) == t {
			return true
		}
	}
	if len(text) == 0 || text[0] != '<' {
		return false
	}
	for _, tag := range k.tags {
		if rest, ok := bytes.CutPrefix(text[1:], []byte(tag)); ok && (tag[len(tag)-1] == '=' || len(rest) == 0 || bytes.IndexByte([]byte("> \t\r\n/"), rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// Typed reports whether a text that an agent's hook calls a prompt can be the
// person's. Of an agent that is not understood every text can.
func Typed(a Agent, text string) bool {
	f, ok := a.format()
	return !ok || !f.kinds.injected(bytes.TrimSpace([]byte(text[:min(len(text), 4096)])))
}
