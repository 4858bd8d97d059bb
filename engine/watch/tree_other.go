//go:build !linux

package watch

// Open watches a tree. Error: ErrUnsupported.
func Open(Options) (Tree, error) { return nil, ErrUnsupported }

// Asked is an answer; nobody answers here.
type Asked struct{ Answer }

// Ask is nil: nobody answers.
func Ask(string, Question) *Asked { return nil }

// Report ends what Ask began.
func (*Asked) Report(Report) {}

// Close ends it without a report.
func (*Asked) Close() {}

// Server answers questions; there are none here.
type Server struct{}

// Serve is nil: there is nothing to answer.
func Serve(string, func(string) map[string]bool) *Server { return nil }

// Answer names the tree.
func (*Server) Answer(Tree) {}

// Close ends it.
func (*Server) Close() {}
