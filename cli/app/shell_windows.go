package app

// ShellCommand runs a line as the person wrote it in the environment.
func ShellCommand(line string) []string { return []string{"cmd", "/c", line} }
