package project

import "strings"

// SplitPath gives a path's directory, "" for the root, and its name.
func SplitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
