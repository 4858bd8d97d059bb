package web

import (
	"context"
	"encoding/json"
	"io"
)

// Source answers what the page asks. Its methods are called by several goroutines. An error with the
// methods of Failure says which status and hint go with it.
type Source interface {
	// Projects are those that the page can show; the first is where it begins.
	Projects(ctx context.Context) ([]Project, error)
	// Space is a project by an id that Projects gave. Error: a Failure, where there is none, or it cannot be opened.
	Space(ctx context.Context, id string) (Space, error)
}

// Project is one project of the page.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"` // the last element of its root
	Root string `json:"root"`
}

// Space answers questions about one project. An answer is a value that is marshalled.
type Space interface {
	// Start is what a page asks for first, so that it need not; nil for nothing.
	Start(ctx context.Context) (any, error)
	// Looked is when the files were last looked at, as an answer says a time; "" for never.
	Looked() string
	// News is a word that changes when the log does, or what a row can say.
	News(ctx context.Context) (string, error)
	// Ask answers a question that changes nothing. args are a request's query.
	Ask(ctx context.Context, what string, args Args) (any, error)
	// Stream writes lines of JSON as they are found; of "export", a session as a page.
	Stream(ctx context.Context, what string, args Args, out io.Writer) error
	// Raw is a version of a file, byte for byte. The caller closes it.
	Raw(ctx context.Context, args Args) (*Raw, error)
	// Plan says what an action would do, under an id that Apply takes.
	Plan(ctx context.Context, action json.RawMessage) (any, error)
	// Apply carries out a plan. If the plan is out of date, it does nothing, and changed is
	// the present plan.
	Apply(ctx context.Context, plan string) (done, changed any, err error)
	// Mark names or pins.
	Mark(ctx context.Context, mark json.RawMessage) (any, error)
}

// Raw is a version of a file.
type Raw struct {
	Name string // as a person would keep it: no path
	Size uint64 // bytes
	io.ReadCloser
}

// Args are the arguments of a question.
type Args func(name string) string

// Failure is an error that says what to answer.
type Failure interface {
	error
	Status() int
	Hint() string // what to do next, "" for nothing
}
