package outbox

import (
	"math/rand/v2"
	"time"
)

// The waits between tries.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 5 * time.Minute
)

// waitAfter is how long the next try waits after the given number of failures:
// half a second doubling to five minutes, less a quarter at most, at random, so
// that what failed together does not come again together; and at least what the
// receiver asked for.
func waitAfter(failures int, atLeast time.Duration) time.Duration {
	base := longestWait
	if n := failures - 1; n < 10 {
		base = min(firstWait<<max(n, 0), longestWait)
	}
	return max(base-rand.N(base/4+1), atLeast)
}
