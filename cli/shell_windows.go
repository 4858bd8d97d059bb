package cli

// shellCommand runs a line as the person wrote it in the environment.
func shellCommand(line string) []string { return []string{"cmd", "/c", line} }
