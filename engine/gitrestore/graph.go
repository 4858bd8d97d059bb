package gitrestore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitprogram"
)

// git runs the plumbing on the repository; with held, the objects of the saved state are there too.
func (p *Plan) git(ctx context.Context, held bool, input []byte, args ...string) ([]byte, error) {
	return p.repository(held).Output(ctx, input, args...)
}

// kinds gives the kind of each object: "commit", "tag", "tree", "blob". An object that is not there is missing in it.
func (p *Plan) kinds(ctx context.Context, held bool, ids []string) (map[string]string, error) {
	kinds := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return kinds, nil
	}
	out, err := p.git(ctx, held, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if id, kind, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && kind != "missing" {
			kinds[id] = kind
		}
	}
	return kinds, nil
}

// reached gives what tips reach and have does not: commits, and with objects also tags, trees and blobs, which may be missing. Ids of have that are missing do not count.
func (p *Plan) reached(ctx context.Context, tips, have []string, objects bool) (map[string]bool, error) {
	reached := map[string]bool{}
	if len(tips) == 0 {
		return reached, nil
	}
	var input strings.Builder
	written := map[string]bool{} // git reads the object of each line, and thousands of references can name one
	for i, id := range slices.Concat(tips, have) {
		line := id + "\n"
		if i >= len(tips) {
			line = "^" + line
		}
		if !written[line] {
			written[line] = true
			input.WriteString(line)
		}
	}
	args := []string{"rev-list", "--stdin", "--ignore-missing"}
	if objects {
		args = append(args, "--objects", "--no-object-names", "--missing=print")
	}
	out, err := p.git(ctx, true, []byte(input.String()), args...)
	if errors.As(err, new(*gitprogram.FailedError)) && !objects { // a commit is missing: no commit counts as reached by others
		for _, id := range tips {
			if !slices.Contains(have, id) {
				reached[id] = true
			}
		}
		return reached, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		reached[strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "?")] = true
	}
	return reached, nil
}
