package page

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// contentView is a file's text at a checkpoint.
type contentView struct {
	app.PathView
	Text   string `json:"text"`
	Size   uint64 `json:"size"`
	Binary bool   `json:"binary,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
}

// maxContent is how much of a file is shown, in bytes.
const maxContent = 1 << 20

// versionOf is a file as a checkpoint has it.
func (s *space) versionOf(id, path string) (*manifest.Entry, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return nil, err
	}
	e, ok, err := manifest.Find(s.P.LoadDir, l.Root, path)
	switch {
	case err != nil:
		return nil, s.P.Classify(err)
	case !ok || e.Kind == manifest.Subdir:
		return nil, &app.StaleError{What: "file in that checkpoint", Name: path}
	}
	return &e, nil
}

// maxPicture is how large a picture is shown, in bytes.
const maxPicture = 8 << 20

// sideOf is a file as it was before or after what a row, or a comparison, shows of it; unsaved: the store may not have it yet.
func (s *space) sideOf(ctx context.Context, args web.Args, path string) (e *manifest.Entry, unsaved bool, err error) {
	r, f, err := s.changeOf(ctx, args, path)
	if err != nil {
		return nil, false, err
	}
	if f == nil {
		return nil, false, &app.StaleError{What: "file that differs", Name: path}
	}
	if e = f.New; args("side") == "old" {
		e = f.Old
	}
	unsaved = args("side") != "old" && (args("other") == "@" || args("other") == "" && r.To != nil && r.To.Now)
	if e == nil || e.Kind == manifest.Subdir {
		return nil, false, &app.StaleError{What: "file there", Name: path}
	}
	return e, unsaved, nil
}

// Raw is a version of a file. It takes no turn with other requests, since a large file takes long to read.
func (s *space) Raw(ctx context.Context, args web.Args) (*web.Raw, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if err := s.Know(ctx, args("id")); err != nil {
		return nil, explained(err)
	}
	out, err := s.raw(ctx, args)
	if s.outdated(ctx, err) {
		out, err = s.raw(ctx, args)
	}
	return out, explained(err)
}

func (s *space) raw(ctx context.Context, args web.Args) (*web.Raw, error) {
	release, err := s.P.Use(ctx)
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			release()
		}
	}()
	file := pagePath(args("path"))
	var e *manifest.Entry
	unsaved := false
	if args("side") == "" {
		e, err = s.versionOf(args("id"), file)
	} else {
		e, unsaved, err = s.sideOf(ctx, args, file)
	}
	switch {
	case err != nil:
		return nil, err
	case (args("side") != "" || args("shown") != "") && e.Size > maxPicture:
		return nil, &failure{app.Failure{Message: app.Quote(file) + " is too large to be shown here"}, http.StatusForbidden}
	case e.Precious:
		return nil, &failure{app.Failure{Message: app.Quote(file) + " is precious: the page does not show what is in it",
			Hint: "rewind show " + app.ShellQuote(args("id")+":"+file)}, http.StatusForbidden}
	case e.Kind == manifest.Symlink:
		return &web.Raw{Name: path.Base(file), Size: uint64(len(e.Target)), ReadCloser: io.NopCloser(strings.NewReader(e.Target))}, nil
	}
	r, err := inspect.Content(ctx, s.P, *e)
	switch {
	case err != nil && unsaved:
		return nil, &failure{app.Failure{Message: "it is shown once it is saved"}, http.StatusNotFound}
	case err != nil:
		return nil, err
	}
	keep = true
	return &web.Raw{Name: path.Base(file), Size: e.Size, ReadCloser: &project.HeldReader{ReadCloser: r, Release: release}}, nil
}

func (s *space) file(ctx context.Context, args web.Args) (any, error) {
	release, err := s.P.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	e, err := s.versionOf(args("id"), path)
	if err != nil {
		return nil, err
	}
	out := contentView{PathView: app.ViewPath(path), Size: e.Size, Hidden: e.Precious}
	switch {
	case out.Hidden:
		return out, nil
	case e.Kind == manifest.Symlink:
		out.Text = e.Target
		return out, nil
	}
	r, err := inspect.Content(ctx, s.P, *e)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if out.Cut = len(data) > maxContent; out.Cut {
		data = data[:maxContent]
	}
	if out.Binary = strings.IndexByte(string(data[:min(len(data), 8000)]), 0) >= 0; !out.Binary {
		out.Text = string(data)
	}
	return out, nil
}
