package problem

import "testing"

// The words are in stores: they say the same for ever, and nothing else has a code.
func TestStoredWords(t *testing.T) {
	for reason, want := range map[string]Code{
		"late": Late, "not there yet": NotYet, "vanished": Vanished, "torn": Torn, "larger than maxFileSize": TooLarge,
		"ignored: build/": Ignored, "ignored: 201 more paths": Ignored,
		"late: it has 9 bytes": Other, "torn off": Other, "fifo": Other, "": Other, "unreadable: permission denied": Other,
	} {
		p := Read("a", reason, true)
		if p.Code != want || p.Reason != reason {
			t.Errorf("%q is read as %+v, want code %d", reason, p, want)
		}
		if again, err := Decode(Encode([]Problem{p})); err != nil || len(again) != 1 || again[0] != p {
			t.Errorf("%+v is stored as %+v: %v", p, again, err)
		}
		if want != Other && want != Ignored && New("a", want, true) != p {
			t.Errorf("%q is not the word of its code", reason)
		}
	}
	for c := TargetRules; c <= InTheWay; c++ {
		if c.Word() != "" {
			t.Errorf("a plan's code %d has a stored word %q", c, c.Word())
		}
	}
}
