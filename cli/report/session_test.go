package report

import "testing"

// Sessions that began at about the same time, or have a name, have labels of their own.
func TestShortSession(t *testing.T) {
	for _, c := range []struct{ id, short string }{
		{"5ba1c0de-8d5e-4c6f-9a1b-0123456789ab", "5ba1c0de"},
		{"019aab00-1234-7c6f-9a1b-0123456789ab", "019aab00-1234"},
		{"ses_6b0c12345ffeXbCdEfGhIjKlMn", "ses_6b0c12345ffeXbCdEfGh"},
		{"with-undo-17", "with-undo-17"},
		{"nightly-refactorings-größe", "nightly-refactorings-gr"},
		{"7", "7"}, {"", ""},
	} {
		if got := ShortSession(c.id); got != c.short {
			t.Errorf("%q: %q, not %q", c.id, got, c.short)
		}
	}
}
