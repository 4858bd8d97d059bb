//go:build !darwin

package gitrepo

// systemConfigs is where git looks unless it was built otherwise.
var systemConfigs = []string{"/etc/gitconfig"}
