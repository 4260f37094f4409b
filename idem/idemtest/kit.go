package idemtest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Kit describes a service to Conformance.
type Kit struct {
	// URL is a database with the service's tables and the runtime's, and with
	// nobody else in it: see Migrated. The kit adds a schema "idemtest" and
	// triggers to it.
	URL string
	// Handler makes the service over a pool. It is called twice, for what two
	// processes are: they share nothing but the database.
	Handler func(t testing.TB, pool *pgxpool.Pool) http.Handler
	// Operations are what is checked: those with a key.
	Operations []Operation
	// Fixtures makes what an operation's example needs to be there, and says
	// where it is. It is called before each check. May be nil.
	Fixtures func(t testing.TB, f *Fixture)
	// As makes r a request of caller "a" or "b", which have different scopes.
	// Nil: the header CallerHeader.
	As func(r *http.Request, caller string)
	// OneScope: keys of all callers are in one scope.
	OneScope bool
	// Sweep deletes what is expired in transactions of at most batch keys. Nil:
	// sweeping is not checked.
	Sweep func(ctx context.Context, pool *pgxpool.Pool, batch int) error
	// Connect changes the configuration of the service's pools: another query
	// execution mode, for instance. May be nil.
	Connect func(*pgxpool.Config)
	// Duplicates is how many copies of a request are sent at once; 32.
	Duplicates int
	// Patience is how long the kit waits for what must come; 20 s.
	Patience time.Duration
}

// CallerHeader says which caller of a Kit sends a request: "a" or "b".
const CallerHeader = "Idemtest-Caller"

// Conformance checks that a service keeps the promises of docs/semantics.md,
// profile ietf: each operation is a subtest, with a subtest per promise. It
// works with every handler that keeps its records in idem.keys, generated or
// not.
//
// What can't be checked is skipped, with what is missing. An operation that
// refuses its example is skipped as a whole: Kit.Fixtures makes what it needs.
//
// An effect is a row that is inserted, updated or deleted in Operation.Writes,
// and committed. Checks that wait do so for the database, not for a time.
func Conformance(t *testing.T, kit Kit) {
	t.Helper()
	r := newRig(t, &kit)
	for i := range kit.Operations {
		op := &kit.Operations[i]
		t.Run(op.Name, func(t *testing.T) {
			p := &probe{rig: r, t: t, op: op}
			judge(t, p.example())
			for _, c := range checks {
				t.Run(c.name, func(t *testing.T) { judge(t, p.check(t, c)) })
			}
		})
	}
	t.Run(sweepCheck, func(t *testing.T) { judge(t, r.sweep()) })
}

// judge ends a test by what its check found.
func judge(t testing.TB, found error) {
	t.Helper()
	var skipped skip
	switch {
	case errors.As(found, &skipped):
		t.Skip(string(skipped))
	case found != nil:
		t.Fatal(found)
	}
}

// skip is why a check says nothing.
type skip string

func (s skip) Error() string { return "skipped: " + string(s) }

// check is one promise.
type check struct {
	name string
	run  func(*probe) error
}

// checks are the promises about one operation, in the order of semantics.md.
var checks = []check{
	{"missing key", missingKey},
	{"malformed keys", malformedKeys},
	{"sequential duplicates", sequentialDuplicates},
	{"other spelling", otherSpelling},
	{"replay fidelity", replayFidelity},
	{"mismatch", mismatch},
	{"scope isolation", scopeIsolation},
	{"slot poisoning", slotPoisoning},
	{"concurrent duplicates", concurrentDuplicates},
	{"disconnect", disconnect},
	{"expiry", expiry},
	{"failing statement", failingStatement},
	{"failing record", failingRecord},
	{"failing commit", failingCommit},
	{"serialization failure", serializationFailure},
	{"lost request", lostRequest},
	{"lost answer", lostAnswer},
}
