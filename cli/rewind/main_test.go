package main

import (
	"os"
	"testing"
)

// Most tests here build the program and look at that. With the program in the test binary, too, a result of the
// test cache is one of the same program.
func TestMain(m *testing.M) {
	if os.Getenv("REWIND_TEST_AS_PROGRAM") != "" {
		main()
	}
	os.Unsetenv("GOGC") // of make test, as the next one: the programs that tests start have none
	os.Unsetenv("GOMEMLIMIT")
	os.Exit(m.Run())
}
