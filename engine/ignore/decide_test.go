package ignore

// Decide walks down to path ("a/b/c") and says what becomes of it, as a scan
// that started at the root would. read returns the content of the rule file at
// a path, nil if there is none. Below a directory that is skipped all is Skip.
func (r *Rules) Decide(path string, isDir bool, read func(path string) []byte) (Decision, string) {
	at := func(dir string) func(string) []byte {
		return func(name string) []byte { return read(dir + name) }
	}
	s := r.Root(at(""))
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		name := path[len(s.dir()):i]
		if d, label := s.Decide(name, true); d == Skip {
			return Skip, label
		}
		s = s.Child(name, at(path[:i+1]))
	}
	return s.Decide(path[len(s.dir()):], isDir)
}
