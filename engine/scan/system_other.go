//go:build !(linux && (amd64 || arm64))

package scan

// system gives the ways to look at the tree below root.
func system(root string, _ bool) (newLooker func(*Cache) looker, newOpener func() opener, done func(), err error) {
	newLooker, newOpener, done = portableSystem(root)
	return newLooker, newOpener, done, nil
}
