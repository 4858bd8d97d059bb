package bucket

import (
	"encoding/json"
	"os"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// kept is what is kept between two uses of a repository: the newest commits that were pushed. One that is not the newest any more costs a refused push.
type kept struct {
	URL    string            `json:"url"`
	SHA256 bool              `json:"sha256"`
	Tips   map[string]string `json:"tips"` // text of the commit, by the ref
}

// readKept reads the file; one that is missing, damaged, or of another place says nothing.
func (g *gitPlace) readKept() map[string]tip {
	tips := map[string]tip{}
	if g.keep == "" {
		return tips
	}
	var k kept
	data, err := vfs.ReadRegular(g.keep, vfs.NoFollow)
	if err != nil || json.Unmarshal(data, &k) != nil || k.URL != g.host()+"#"+g.prefix {
		return tips
	}
	g.sha256 = k.SHA256
	for ref, text := range k.Tips {
		tips[ref] = tip{id: objectID(g.sha256, "commit", []byte(text)), text: []byte(text)}
	}
	return tips
}

// writeKept writes the file. That it cannot costs requests, and nothing else.
func (g *gitPlace) writeKept() {
	if g.keep == "" {
		return
	}
	k := kept{g.host() + "#" + g.prefix, g.sha256, map[string]string{}}
	for ref, t := range g.tips {
		k.Tips[ref] = string(t.text)
	}
	if data, err := json.Marshal(k); err == nil {
		_ = os.WriteFile(g.keep, data, 0o600)
	}
}
