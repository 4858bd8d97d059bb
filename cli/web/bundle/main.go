// Command bundle makes cli/web/dist from cli/web/page; go generate ./cli/web runs it. It is a module of its own, so that
// the bundler is compiled only where the page is made or compared.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out, err := Bundle("../page")
	if err == nil {
		err = os.MkdirAll("../dist", 0o755)
	}
	for name, data := range out {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one that there is
		_, werr := z.Write(data)
		if err = errors.Join(err, werr, z.Close()); err == nil {
			err = os.WriteFile("../dist/"+name+".gz", packed.Bytes(), 0o644)
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

// Bundle gives the files of dist, by their names: what is served, where rest.js is for what is opened later, and whole.js,
// which is all of it in one, for a page that is a file.
func Bundle(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	from := func(names ...string) (entries []string) {
		for _, name := range names {
			entries = append(entries, dir+"/"+name)
		}
		return entries
	}
	app, err := build(out, from("app.js", "colour-worker.js", "begin.js", "app.css"), served)
	if err == nil {
		_, err = build(out, from("rest.js"), beside(app))
	}
	if err == nil {
		whole := map[string][]byte{}
		_, err = build(whole, from("app.js"))
		out["whole.js"] = whole["app.js"]
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"app.js", "whole.js"} {
		out[name] = append([]byte(eager), out[name]...)
	}
	out["index.html"], err = os.ReadFile(dir + "/index.html")
	return out, err
}

// build adds what is made of entries to out. It gives all files that went into it.
func build(out map[string][]byte, entries []string, plugins ...api.Plugin) (inputs map[string]bool, err error) {
	r := api.Build(api.BuildOptions{
		EntryPoints: entries, Plugins: append(plugins, unindented),
		Bundle: true, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Outdir: "dist", Metafile: true,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("%v: %s", r.Errors[0].Location, r.Errors[0].Text)
	}
	for _, f := range r.OutputFiles {
		out[base(f.Path)] = f.Contents
	}
	var meta struct{ Inputs map[string]any }
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		return nil, err
	}
	inputs = map[string]bool{}
	for name := range meta.Inputs {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		inputs[path] = true
	}
	return inputs, nil
}

var indent = regexp.MustCompile(`(?m)^[ \t]+`)

// unindented takes the indentation out of templates of HTML, which the minifier keeps and htm takes out when it runs. Other
// templates are of one line.
var unindented = api.Plugin{Name: "unindented", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `/page/[a-z-]+\.js$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		source, err := os.ReadFile(a.Path)
		text := indent.ReplaceAllString(string(source), "")
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
	})
}}

// served leaves the scripts that are loaded by another one to the server.
var served = api.Plugin{Name: "served", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `/(app|rest)\.js$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if a.Kind != api.ResolveJSDynamicImport {
			return api.OnResolveResult{}, nil
		}
		return api.OnResolveResult{Path: "/" + base(a.Path), External: true}, nil
	})
}}

// beside lets a script find in app.js what is there already, and not bring it again: app.js exports it.
func beside(app map[string]bool) api.Plugin {
	return api.Plugin{Name: "beside", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\./`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if !app[filepath.Join(a.ResolveDir, a.Path)] {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: "/app.js", External: true}, nil
		})
	}}
}

func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return path[i+1:]
		}
	}
	return path
}
