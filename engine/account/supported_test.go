package account

import (
	"errors"
	"testing"
)

func TestSupported(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "freebsd", "windows"} {
		for _, value := range []string{"", "0", "true", "1"} {
			err := Supported(Env{System: system, Getenv: func(key string) string {
				if key == "REWIND_ALLOW_WINDOWS" {
					return value
				}
				return ""
			}})
			var refused *UnsupportedError
			if want := system == "windows" && value != "1"; errors.As(err, &refused) != want {
				t.Errorf("%s with %q: %v", system, value, err)
			}
		}
	}
}
