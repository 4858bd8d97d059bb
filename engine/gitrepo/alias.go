package gitrepo

import "strings"

// Aliases gives what each of git's aliases stands for, by its name in lower case, from the configuration that counts in
// dir: that of the system, of the person, and of the repository around dir, if there is one. dir is absolute, and may be a
// git directory itself. home is the person's, "" if not known; getenv is as in Repo.
func Aliases(dir, home string, getenv func(string) string) map[string]string {
	r, ok := Find(dir)
	if !ok && isGitDir(dir) {
		r = Repo{GitDir: dir, CommonDir: commonDir(dir)}
		r.local = readConfig(r.CommonDir + "/config")
	}
	r.Getenv = getenv
	aliases := map[string]string{}
	for _, e := range r.fullConfig(home).entries {
		if name, ok := strings.CutPrefix(e.key, "alias."); ok {
			aliases[strings.ToLower(strings.TrimSuffix(name, ".command"))] = e.value.text // [alias "name"] command = … of git 2.54
		}
	}
	return aliases
}
