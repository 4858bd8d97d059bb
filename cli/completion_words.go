package cli

import "strings"

// shellWords reads a command line up to the cursor as bash does, as far as quotes go;
// the last word is the one being typed, empty after a space. Expansions stay as they
// are: a completion runs nothing.
func shellWords(line string) []string {
	words := []string{}
	var word strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\\' && (quote == 0 || i+1 < len(line) && strings.IndexByte("$`\"\\", line[i+1]) >= 0):
			if i++; i < len(line) {
				word.WriteByte(line[i])
			}
			begun = true
		case quote == '"':
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	return append(words, word.String())
}

// bashWords are the words of a line that bash completes, without the program's own
// name, and what of the last one comes before the part that bash is going to replace:
// bash takes : and = for ends of words. cur is that part, as it was typed.
func bashWords(line, cur string) (words []string, before string) {
	words = shellWords(line)[1:]
	if len(words) == 0 {
		words = []string{""}
	}
	typed := words[len(words)-1]
	part := shellWords(cur)
	replaced := part[len(part)-1]
	if len(replaced) == 1 && strings.Contains(":=@", replaced) {
		replaced = ""
	}
	if before, ok := strings.CutSuffix(typed, replaced); ok {
		return words, before
	}
	return words, ""
}
