package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:generate go -C bundle run .

//go:embed dist
var dist embed.FS

// file gives a file of the page: index.html or what it loads. Errors: fs.ErrNotExist.
func file(name string) ([]byte, error) {
	packed, err := dist.Open("dist/" + name + ".gz")
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// contentType is the type of a file of the page; no other files are served.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	}
	return ""
}

// page serves the files of the page. Every address that is none of them is a place within it.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		fail(w, http.StatusNotFound, "there is no such address", "")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		fail(w, http.StatusMethodNotAllowed, "that can only be read", "")
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	kind := contentType(name)
	if kind == "" || strings.HasPrefix(name, "p/") {
		name, kind = "index.html", contentType("index.html")
	}
	data, err := file(name)
	if err != nil {
		fail(w, http.StatusNotFound, "there is no such file", "")
		return
	}
	w.Header().Set("Content-Type", kind)
	if name == "index.html" {
		whole := styled()
		data = whole.page
		w.Header().Set("Content-Security-Policy", whole.policy)
	}
	_, _ = w.Write(data) // who asked may be gone
}

// styledPage is index.html with its style inside, so that it is painted without another request, and with the script that
// logs it in, which begins before the rest of the script is there.
type styledPage struct {
	page   []byte
	policy string // which allows that style and that script by their sums
}

const (
	styleLink  = `<link rel="stylesheet" href="/app.css">`
	scriptLink = `<script type="module" src="/app.js"></script>` // begin.js asks for it instead
)

var styled = sync.OnceValue(func() styledPage {
	page, err := file("index.html")
	style, serr := file("app.css")
	begin, berr := file("begin.js")
	if errors.Join(err, serr, berr) != nil || endsElement(style) || endsElement(begin) ||
		bytes.Count(page, []byte(styleLink)) != 1 || bytes.Count(page, []byte(scriptLink)) != 1 {
		return styledPage{page, policy}
	}
	page = bytes.Replace(page, []byte(styleLink), []byte("<style>"+string(style)+"</style>"), 1)
	page = bytes.Replace(page, []byte(scriptLink), []byte("<script>"+string(begin)+"</script>"), 1)
	return styledPage{page, strings.NewReplacer("style-src 'self'", "style-src 'self' '"+sourceSum(style)+"'",
		"script-src 'self'", "script-src 'self' '"+sourceSum(begin)+"'").Replace(policy)}
})
