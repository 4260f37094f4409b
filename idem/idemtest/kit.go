package idemtest

import (
	"context"
	"errors"
	"fmt"
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
	// Fixtures all may. A name that is not needed is a failure.
	AllowSkipped []string
	// As makes r a request of caller "a" or "b", which have different scopes.
	// Nil: the header CallerHeader.
	As func(r *http.Request, caller string)
	// OneScope: keys of all callers are in one scope. They must then have at
	// least 22 characters.
	OneScope bool
	// OwnProblems: refusals have bodies of the service's own (Options.Problem), in
	// which the kit finds no codes. It judges them by their status then, and tells
	// a request in flight by that and Retry-After.
	OwnProblems bool
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
// end says so: nothing passes unchecked. An operation that refuses its example, or
// takes it only once, is skipped as a whole: Kit.Fixtures makes what it needs, and
// where it is set, such an operation fails unless Kit.AllowSkipped names it.
//
// An effect is a row that is inserted, updated or deleted in Operation.Writes,
// and committed. Checks that wait do so for the database, not for a time.
func Conformance(t *testing.T, kit Kit) {
	t.Helper()
	r := newRig(t, &kit)
	found := &report{}
	for i := range kit.Operations {
		op := kit.Operations[i].asAnswered()
		t.Run(op.Name, func(t *testing.T) { r.operation(t, op, found) })
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{{sweepCheck, r.sweep}, {connectionsCheck, r.connections}} {
		t.Run(c.name, func(t *testing.T) { found.add("", c.name, nil, c.run()).judge(t) })
	}
	for _, err := range kit.needlesslyAllowed(found) {
		t.Error(err)
	}
	found.publish(t, kit.Report)
}

// operation checks all promises about one operation.
func (r *rig) operation(t *testing.T, op *Operation, found *report) {
	p := &probe{rig: r, t: t, op: op}
	if err := p.example(); err != nil {
		found.add(op.Name, exampleCheck, nil, r.kit.excused(op, err)).judge(t)
	}
	for _, c := range checksOf(op) {
		t.Run(c.name, func(t *testing.T) {
			notes := &notes{}
			found.add(op.Name, c.name, notes, p.check(t, c, notes)).judge(t)
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

// needlesslyAllowed are the faults of AllowSkipped: a name that is misspelt, or
// has outlived its reason, would hide what is not checked one day. Operations
// that -run leaves out have nothing found about them, and no fault.
func (k *Kit) needlesslyAllowed(found *report) (faults []error) {
	for _, name := range k.AllowSkipped {
		switch {
		case !slices.ContainsFunc(k.Operations, func(op Operation) bool { return op.Name == name }):
			faults = append(faults, fmt.Errorf("Kit.AllowSkipped names %q, but there is no such operation", name))
		case found.checked(name):
			faults = append(faults, fmt.Errorf("Kit.AllowSkipped names %s, but it was checked: remove it there", name))
		}
	}
	return faults
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
	// sendsKeys: it is about keys that are sent, and does not apply to operations
	// that make theirs of other inputs.
	sendsKeys bool
}

// exampleCheck is that an operation takes its example.
const exampleCheck = "example"

// checks are the promises about one operation with a key, in the order of
// semantics.md.
var checks = []check{
	{name: "missing key", run: missingKey},
	{name: "unprotected requests", run: unprotected, sendsKeys: true},
	{name: "malformed keys", run: malformedKeys, sendsKeys: true},
	{name: "spellings of a key", run: spellingsOfKey, sendsKeys: true},
	{name: "echo of the key", run: echoOfKey, sendsKeys: true},
	{name: "sequential duplicates", run: sequentialDuplicates},
	{name: "other spelling", run: otherSpelling},
	{name: "replay fidelity", run: replayFidelity},
	{name: "mismatch", run: mismatch},
	{name: "recorded refusal", run: recordedRefusal},
	{name: "business intent", run: businessIntent, sendsKeys: true},
	{name: "other values of an intent", run: otherValues, sendsKeys: true},
	{name: "forced retry", run: forcedRetry},
	{name: "forced retries at once", run: forcedAtOnce},
	{name: "scope isolation", run: scopeIsolation},
	{name: "slot poisoning", run: slotPoisoning},
	{name: "concurrent duplicates", run: concurrentDuplicates},
	{name: "whether to retry", run: whetherToRetry},
	{name: "disconnect", run: disconnect},
	{name: "disconnect before the record", run: disconnectBeforeRecord},
	{name: "lifetime", run: lifetime},
	{name: "expiry", run: expiry},
	{name: "the database's clock", run: databaseClock},
	{name: "failing statement", run: failingStatement},
	{name: "failing record", run: failingRecord},
	{name: "failing commit", run: failingCommit},
	{name: "serialization failure", run: serializationFailure},
	{name: "lost request", run: lostRequest},
	{name: "lost answer", run: lostAnswer},
}

// unkeyed are the promises about an operation without a key.
var unkeyed = []check{{name: unkeyedCheck, run: nothingRecorded}}

// unkeyedCheck is the one promise about an operation without a key, so that
// without it nothing was checked.
const unkeyedCheck = "nothing is recorded"

func checksOf(op *Operation) []check {
	if op.Key == KeyNone {
		return unkeyed
	}
	return checks
}
