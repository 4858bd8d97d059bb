package conversation

import "testing"

// What a call is about is known of a long input, too, that was cut.
func TestGivenTo(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"a.go","content":"x"}`:                  "a.go",
		`{"file_path":"a.go","content":"a long one that is `:  "a.go",
		`{"content":[{"path":"no"}],"n":1,"command":"ls -l"}`: "ls -l",
		`{"description":"d","cmd":""}`:                        "d",
		`{`:                                                   "",
		`["command"]`:                                         "",
		`{1:2}`:                                               "",
		``:                                                    "",
	} {
		if got := GivenTo(input); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
