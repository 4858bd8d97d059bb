package manifest

// SameContent reports whether two sides of a change differ in nothing but their modes.
func SameContent(old, new *Entry) bool {
	return old != nil && new != nil && old.Kind == new.Kind && old.ID == new.ID && old.Target == new.Target
}

func SameKindDir(a, b *Entry) bool {
	return a != nil && b != nil && a.Kind == Subdir && b.Kind == Subdir
}

// SameEntries reports whether two entries are the same path's, both may be nil.
func SameEntries(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return SameContent(a, b) && a.Mode == b.Mode
}

// HasContent reports whether it is a file or a link.
func HasContent(e *Entry) bool { return e != nil && e.Kind != Subdir }
