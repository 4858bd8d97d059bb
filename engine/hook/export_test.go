package hook

// What the scenarios of package hook_test see of the inside.
type (
	SaveOptions = saveOptions
	Outcome     = outcome
)

const (
	HandOver    = handOver
	MaxAttempts = maxAttempts
	SweepEvery  = sweepEvery
)

var (
	Save        = save
	BeforeEdit  = beforeEdit
	NextRequest = nextRequest
	WriteNote   = writeNote
	SweepDue    = sweepDue
)
