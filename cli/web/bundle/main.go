// Command bundle makes cli/web/dist from cli/web/page: go generate runs it in cli/web.
package main

import (
	"fmt"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out, err := Bundle("page")
	if err == nil {
		err = os.MkdirAll("dist", 0o755)
	}
	for name, data := range out {
		if err == nil {
			err = os.WriteFile("dist/"+name, data, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// eager lets a browser that knows it compile the whole script beside the page while it is loaded, and not piece by piece
// while the page is drawn for the first time.
const eager = "//# allFunctionsCalledOnLoad\n"

// Bundle gives the files of dist, by their names.
func Bundle(dir string) (map[string][]byte, error) {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{dir + "/app.js", dir + "/colour-worker.js", dir + "/begin.js", dir + "/app.css"},
		Bundle:      true, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Outdir: "dist", External: []string{"/app.js"}, // begin.js asks the server for it
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("%s: %s", r.Errors[0].Location.File, r.Errors[0].Text)
	}
	out := map[string][]byte{}
	for _, f := range r.OutputFiles {
		out[f.Path[len(f.Path)-len(base(f.Path)):]] = f.Contents
	}
	out["app.js"] = append([]byte(eager), out["app.js"]...)
	page, err := os.ReadFile(dir + "/index.html")
	out["index.html"] = page
	return out, err
}

func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return path[i+1:]
		}
	}
	return path
}
