package rows

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/manifest"
)

func LetterStyle(b byte) screen.Style {
	switch b {
	case 'A':
		return screen.Green
	case 'D':
		return screen.Red
	}
	return screen.Yellow
}

// PrintChange is one line as git's --name-status: letter, tab, path; mark may follow.
func PrintChange(o *app.Output, ch manifest.Change, mark string) {
	b := Letter(ch)
	st := LetterStyle(b)
	path := app.EscapePath(ch.Path)
	if e := ch.New; e == nil && ch.Old.Kind == manifest.Subdir || e != nil && e.Kind == manifest.Subdir {
		path += "/"
	}
	o.Line("%s\t%s%s", o.Color.Paint(st, string(b)), path, mark)
}
