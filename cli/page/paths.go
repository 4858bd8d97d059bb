package page

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// pathsView lists the files of any checkpoint whose path contains a text.
type pathsView struct {
	Paths []pathView `json:"paths"`
	Total int        `json:"total"` // of them all
}

type pathView struct {
	app.PathView
	Gone  bool `json:"gone,omitempty"`  // it is not in the newest checkpoint
	Files int  `json:"files,omitempty"` // of a directory: how many files there ever were below it
}

// mostPaths bounds one answer: a person who looks for a file types more of its name.
const mostPaths = 1000

// paths finds files by their paths, in the order of these; every word of the question must be in a path, in whatever case.
func (s *space) paths(ctx context.Context, args web.Args) (any, error) {
	words := strings.Fields(strings.ToLower(args("q")))
	files, newest, err := s.Files(ctx, "")
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(path string) bool { return !hasAll(strings.ToLower(path), words) })
	out := pathsView{Paths: []pathView{}, Total: len(files)}
	err = s.addFiles(&out, app.FirstN(files, mostPaths), newest)
	return out, err
}

// tree lists one directory of all that there ever were: its directories, each with the number of files below it, then its files.
func (s *space) tree(ctx context.Context, args web.Args) (any, error) {
	dir := pagePath(args("path"))
	files, newest, err := s.Files(ctx, dir)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		dir += "/"
	}
	out := pathsView{Paths: []pathView{}, Total: len(files)}
	var own []string
	for _, path := range files {
		name, _, deeper := strings.Cut(path[len(dir):], "/")
		n := len(out.Paths)
		switch at := app.ViewPath(dir + name); {
		case !deeper:
			own = append(own, path)
		case n > 0 && out.Paths[n-1].PathView == at: // the files of a directory follow each other
			out.Paths[n-1].Files++
		default:
			out.Paths = append(out.Paths, pathView{PathView: at, Files: 1})
		}
	}
	err = s.addFiles(&out, app.FirstN(own, mostPaths), newest)
	return out, err
}

// addFiles adds files to an answer. One that is a directory in the newest checkpoint is none.
func (s *space) addFiles(out *pathsView, files []string, newest *manifest.Checkpoint) error {
	for _, path := range files {
		there := false
		if newest != nil {
			e, ok, err := manifest.Find(s.P.LoadDir, newest.Root, path)
			if err != nil && !project.IsDamage(s.P.Classify(err)) {
				return s.P.Classify(err)
			}
			if there = ok && err == nil; there && e.Kind == manifest.Subdir {
				out.Total--
				continue
			}
		}
		out.Paths = append(out.Paths, pathView{PathView: app.ViewPath(path), Gone: !there})
	}
	return nil
}

func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
