package idem

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// unknownStep marks a failure that belongs to no step, or to any: a deferred
// constraint, for one.
const unknownStep = -1

// failure is an attempt that did not end in an answer.
type failure struct {
	err      error
	step     int  // index of the step
	claiming bool // it waited for the claim, not for business rows
	lost     bool // the connection is gone, and what it did is unknown
	// declared is a client error that a step's rows ask for.
	declared *Error
	from     binding // of the failed step
}

// tries counts attempts by why another one was made; each reason has a bound.
type tries struct {
	serialization, fresh, unsent, lost, vanished int
	why                                          RetryReason // of the next one
}

const (
	maxSerialization = 5
	maxFresh         = 2
	maxUnsent        = 1
	maxLost          = 2
	maxVanished      = 5
)

// more counts a try that is made because of why, and reports whether it is
// within the bound.
func (t *tries) more(count *int, bound int, why RetryReason) bool {
	t.why = why
	*count++
	return *count <= bound
}

// backoff is 5 ms doubling, half of it random, so that two that met at a
// deadlock do not meet again.
func backoff(try int) time.Duration {
	base := 5 * time.Millisecond << min(try-1, 6)
	return base/2 + rand.N(base)
}

func isPgError(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg)
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func isLockTimeout(err error) bool { return sqlState(err) == "55P03" }

// isStale reports an error of a statement cache that does not fit the server:
// poolers, and migrations under a running service.
func isStale(err error) bool {
	switch sqlState(err) {
	case "26000", "42P05", "0A000":
		return true
	}
	return false
}

// isConflictOnKeys reports that another request recorded this key.
func isConflictOnKeys(pg *pgconn.PgError) bool {
	return pg.Code == "23505" && pg.SchemaName == "idem"
}

// isOutage reports the conditions under which nothing is known to be wrong with
// the request: connection, resources, locks, shutdown, a read-only standby, the
// server's own limits of a transaction.
func isOutage(code string) bool {
	switch code {
	case "55P03", "25006", "25P03", "25P04":
		return true
	}
	switch code[:2] {
	case "08", "53", "57":
		return true
	}
	return false
}

// isBadInput reports what PostgreSQL refuses because of a value: a client can
// bring that about, so it is no fault of the service.
func isBadInput(code string) bool {
	switch code {
	case "21000", // line items that meet each other in one upsert
		"54000", // larger than an index entry may be
		"P0001", // RAISE EXCEPTION in the user's own trigger or function
		"IDM02": // would be a header with control characters
		return true
	}
	return code[:2] == "22" // data exceptions: https://www.postgresql.org/docs/current/errcodes-appendix.html
}
