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
	Gone bool `json:"gone,omitempty"` // it is not in the newest checkpoint
}

// mostPaths bounds one answer: a person who looks for a file types more of its name.
const mostPaths = 1000

// paths finds files by their paths, in the order of these; every word of the question must be in a path, in whatever case.
func (s *space) paths(ctx context.Context, args web.Args) (any, error) {
	out := pathsView{Paths: []pathView{}}
	words := strings.Fields(strings.ToLower(args("q")))
	var found []string
	var newest *manifest.Checkpoint
	dirs := map[string]bool{}
	err := s.P.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1, All: true}) {
			if err != nil {
				return err
			}
			newest = &c
		}
		for path, err := range db.Paths("") {
			if err != nil {
				return err
			}
			for at := strings.LastIndexByte(path, '/'); at > 0 && !dirs[path[:at]]; at = strings.LastIndexByte(path[:at], '/') {
				dirs[path[:at]] = true
			}
			if hasAll(strings.ToLower(path), words) {
				found = append(found, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(path string) bool { return dirs[path] })
	out.Total = len(found)
	for _, path := range app.FirstN(found, mostPaths) {
		there := false
		if newest != nil {
			e, ok, err := manifest.Find(s.P.LoadDir, newest.Root, path)
			if err != nil && !project.IsDamage(s.P.Classify(err)) {
				return nil, s.P.Classify(err)
			}
			if there = ok && err == nil; there && e.Kind == manifest.Subdir {
				out.Total--
				continue
			}
		}
		out.Paths = append(out.Paths, pathView{app.ViewPath(path), !there})
	}
	return out, nil
}

func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
