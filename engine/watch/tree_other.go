//go:build !linux

package watch

// Open watches a tree. Error: ErrUnsupported.
func Open(Options) (Tree, error) { return nil, ErrUnsupported }
