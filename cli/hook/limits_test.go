package hook

import (
	"strconv"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/hookio/register"
)

// Each time limit of a hook leaves room for what has a shorter one.
func TestLimitsInOrder(t *testing.T) {
	seconds, err := strconv.Atoi(register.Seconds)
	if err != nil {
		t.Fatal(err)
	}
	limits := []time.Duration{hook.CallTime, hook.OpenTime, hook.AnswerTime, hook.WatchTime, time.Duration(seconds) * time.Second}
	for i, l := range limits[1:] {
		if l <= limits[i] {
			t.Errorf("%v is not more than %v", l, limits[i])
		}
	}
}
