package gitrepo

// systemConfigs are where the common builds of git look; those that are not there are passed over.
var systemConfigs = []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"}
