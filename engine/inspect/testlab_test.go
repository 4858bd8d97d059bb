package inspect_test

import (
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// lab is a project in a temporary directory, with what the tests here do with one.
type lab struct{ *testlab.Lab }

func newLab(t testing.TB) *lab {
	t.Helper()
	return &lab{testlab.New(t)}
}
