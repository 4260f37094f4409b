package idemtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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
	// Handler makes the service over a pool. It is called three times: twice for
	// what two processes are, which share nothing but the database, and once for
	// a process whose clock disagrees with the database's.
	Handler func(t testing.TB, pool *pgxpool.Pool) http.Handler
	// Profile is the service's, as in idemgen.yaml: ietf, stripe or gateway. "":
	// ietf.
	Profile string
	// Operations are what is checked.
	Operations []Operation
	// Fixtures makes what an operation's example needs to be there, and says
	// where it is. It is called before each check. May be nil.
	Fixtures func(t testing.TB, f *Fixture)
	// AllowSkipped names operations that may refuse their example. Without
	// Fixtures all may.
	AllowSkipped []string
	// As makes r a request of caller "a" or "b", which have different scopes.
	// Nil: the header CallerHeader.
	As func(r *http.Request, caller string)
	// OneScope: keys of all callers are in one scope. They must then have at
	// least 22 characters.
	OneScope bool
	// Sweep deletes what is expired in transactions of at most batch keys. Nil:
	// sweeping is not checked.
	Sweep func(ctx context.Context, pool *pgxpool.Pool, batch int) error
	// Connect changes the configuration of the service's pools: another query
	// execution mode, a pooler in between, another role. May be nil. The kit's own
	// pool is not changed.
	Connect func(*pgxpool.Config)
	// Duplicates is how many copies of a request are sent at once; 32.
	Duplicates int
	// Patience is how long the kit waits for what must come; 20 s.
	Patience time.Duration
	// Report is written what was found, as Markdown. May be nil.
	Report io.Writer
}

// CallerHeader says which caller of a Kit sends a request: "a" or "b".
const CallerHeader = "Idemtest-Caller"

// Conformance checks that a service keeps the promises of docs/semantics.md:
// each operation is a subtest, with a subtest per promise. It works with every
// handler that keeps its records in idem.keys, generated or not.
//
// What can't be checked is skipped, with what is missing, and the report at the
// end says so: nothing passes unchecked. An operation that refuses its example is
// skipped as a whole: Kit.Fixtures makes what it needs, and where it is set, such
// an operation fails unless Kit.AllowSkipped names it.
//
// An effect is a row that is inserted, updated or deleted in Operation.Writes,
// and committed. Checks that wait do so for the database, not for a time.
func Conformance(t *testing.T, kit Kit) {
	t.Helper()
	r := newRig(t, &kit)
	report := &Report{}
	for i := range kit.Operations {
		op := &kit.Operations[i]
		t.Run(op.Name, func(t *testing.T) { r.operation(t, op, report) })
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{{sweepCheck, r.sweep}, {connectionsCheck, r.connections}} {
		t.Run(c.name, func(t *testing.T) { judge(t, report.add("", c.name, nil, c.run())) })
	}
	report.publish(t, kit.Report)
}

// operation checks all promises about one operation.
func (r *rig) operation(t *testing.T, op *Operation, report *Report) {
	p := &probe{rig: r, t: t, op: op}
	if err := p.example(); err != nil {
		judge(t, report.add(op.Name, exampleCheck, nil, r.kit.excused(op, err)))
	}
	for _, c := range checksOf(op) {
		t.Run(c.name, func(t *testing.T) {
			notes := &notes{}
			judge(t, report.add(op.Name, c.name, notes, p.check(t, c, notes)))
		})
	}
}

// excused says whether an operation of which nothing can be checked may be
// skipped: as long as nobody has written fixtures, or if they say so.
func (k *Kit) excused(op *Operation, err error) error {
	var skipped skip
	if !errors.As(err, &skipped) || k.Fixtures == nil || slices.Contains(k.AllowSkipped, op.Name) {
		return err
	}
	return errors.New(string(skipped) + "\nIf it can't be checked, name it in Kit.AllowSkipped.")
}

// judge ends a test by what its check found.
func judge(t testing.TB, found error) {
	t.Helper()
	var skipped skip
	var nothing moot
	switch {
	case errors.As(found, &skipped):
		t.Skip(string(skipped))
	case errors.As(found, &nothing):
		t.Skip(nothing)
	case found != nil:
		t.Fatal(found)
	}
}

// skip is why something could not be checked.
type skip string

func (s skip) Error() string { return "skipped: " + string(s) }

// moot is why there is nothing to check.
type moot string

func (m moot) Error() string { return "does not apply: " + string(m) }

// check is one promise.
type check struct {
	name string
	run  func(*probe) error
}

// exampleCheck is that an operation takes its example.
const exampleCheck = "example"

// checks are the promises about one operation with a key, in the order of
// semantics.md.
var checks = []check{
	{"missing key", missingKey},
	{"unprotected requests", unprotected},
	{"malformed keys", malformedKeys},
	{"spellings of a key", spellingsOfKey},
	{"echo of the key", echoOfKey},
	{"sequential duplicates", sequentialDuplicates},
	{"other spelling", otherSpelling},
	{"replay fidelity", replayFidelity},
	{"mismatch", mismatch},
	{"recorded refusal", recordedRefusal},
	{"business intent", businessIntent},
	{"forced retry", forcedRetry},
	{"scope isolation", scopeIsolation},
	{"slot poisoning", slotPoisoning},
	{"concurrent duplicates", concurrentDuplicates},
	{"disconnect", disconnect},
	{"disconnect before the record", disconnectBeforeRecord},
	{"lifetime", lifetime},
	{"expiry", expiry},
	{"the database's clock", databaseClock},
	{"failing statement", failingStatement},
	{"failing record", failingRecord},
	{"failing commit", failingCommit},
	{"serialization failure", serializationFailure},
	{"lost request", lostRequest},
	{"lost answer", lostAnswer},
}

// unkeyed are the promises about an operation without a key.
var unkeyed = []check{{"nothing is recorded", nothingRecorded}}

func checksOf(op *Operation) []check {
	if op.Key == KeyNone {
		return unkeyed
	}
	return checks
}
