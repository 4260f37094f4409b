package idemtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Promises that do not apply to careful handlers of most kinds.
const (
	needsKey    = "missing key,"
	unkeyedRuns = "unprotected requests,"
	noReturn    = "other values of an intent,"
	noIntent    = "business intent," + noReturn
	noForce     = "forced retries at once,"
)

// A handler that keeps all promises passes, in every profile and form; what is
// not of its kind does not apply, and nothing is skipped.
func TestCarefulHandlersPass(t *testing.T) {
	cases := map[string]struct {
		careful careful
		moot    string
	}{
		"ietf":           {careful{}, unkeyedRuns + noIntent + noForce},
		"stripe":         {careful{profile: "stripe"}, needsKey + noIntent + noForce},
		"gateway":        {careful{profile: "gateway"}, needsKey + noIntent + noForce},
		"intent":         {careful{intent: true}, unkeyedRuns + noReturn + noForce},
		"return":         {careful{intent: true, returns: true}, unkeyedRuns + noForce},
		"tombstone":      {careful{tombstone: true}, unkeyedRuns + noIntent + noForce},
		"force":          {careful{forces: true}, unkeyedRuns + noIntent},
		"gateway, force": {careful{profile: "gateway", forces: true}, needsKey + noIntent},
		"sealed":         {careful{sealed: true}, unkeyedRuns + noIntent + noForce},
		"no key":         {careful{keyFree: true}, ""},
		// Bodies that say nothing.
		"ietf, own":      {careful{hides: true}, unkeyedRuns + noIntent + noForce},
		"stripe, own":    {careful{profile: "stripe", hides: true}, needsKey + noIntent + noForce},
		"gateway, own":   {careful{profile: "gateway", hides: true}, needsKey + noIntent + noForce},
		"intent, own":    {careful{intent: true, hides: true}, unkeyedRuns + noReturn + noForce},
		"return, own":    {careful{intent: true, returns: true, hides: true}, unkeyedRuns + noForce},
		"tombstone, own": {careful{tombstone: true, hides: true}, unkeyedRuns + noIntent + noForce},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := findings(t, carefulKit(t, c.careful, carefulSweep))
			for _, promise := range names(c.moot) {
				if !errors.As(found[promise], new(moot)) {
					t.Errorf("%s applies: %v", promise, found[promise])
				}
				delete(found, promise)
			}
			for promise, err := range found {
				t.Errorf("%s: %v", promise, err)
			}
		})
	}
}

// A handler that breaks one rule is caught by the checks of that rule.
func TestBrokenHandlersAreCaught(t *testing.T) {
	cases := []struct {
		rule   string
		broken broken
		caught string // by, separated by commas
		also   string // by some schedules, or for another reason
	}{
		{"the claim is outside the transaction", broken{claimOutside: true}, "failing statement, failing commit, failing record, serialization failure", ""},
		{"the record is outside the transaction", broken{recordOutside: true}, "failing record, lost answer", "concurrent duplicates"},
		{"the record comes before the effect", broken{recordFirst: true}, "failing statement, failing commit, serialization failure",
			"sequential duplicates, replay fidelity, recorded refusal, concurrent duplicates"},
		{"one scope for all", broken{globalScope: true}, "scope isolation, slot poisoning", ""},
		{"no fingerprint", broken{noFingerprint: true}, "mismatch", ""},
		{"one field is left out of the fingerprint", broken{amountUnprinted: true}, "mismatch", ""},
		{"a fingerprint of raw bytes", broken{rawFingerprint: true}, "other spelling", ""},
		{"a mismatch shows values", broken{telling: true}, "mismatch", ""},
		{"a 500 is stored", broken{keepsErrors: true}, "failing statement, failing commit", ""},
		{"the work ends with the client", broken{requestContext: true}, "disconnect, disconnect before the record", ""},
		{"the record ends with the client", broken{recordsRequestly: true},
			"disconnect, disconnect before the record, failing record, lost answer", "concurrent duplicates"},
		{"twins are not waited for", broken{noWait: true}, "concurrent duplicates", ""},
		{"twins run", broken{noLock: true}, "concurrent duplicates", ""},
		{"a running twin is an error", broken{noWait: true, flightIs500: true}, "concurrent duplicates", ""},
		{"a replay has other bytes", broken{otherBytes: true}, "sequential duplicates, recorded refusal, concurrent duplicates", ""},
		{"a replay is not marked", broken{unmarked: true},
			"sequential duplicates, recorded refusal, concurrent duplicates, disconnect, disconnect before the record", ""},
		{"a first answer is not marked", broken{firstUnmarked: true}, "sequential duplicates", ""},
		{"cookies are stored", broken{storesCookies: true}, "replay fidelity", ""},
		{"expired records are replayed", broken{immortal: true}, "expiry, the database's clock", ""},
		{"a replay extends", broken{extends: true}, "expiry", ""},
		{"expiry by the client's clock", broken{clientClock: true}, "the database's clock", ""},
		{"a success is not kept for its time", broken{shortLived: true}, "lifetime", ""},
		{"a client error is not recorded", broken{forgetsRefusals: true}, "recorded refusal", ""},
		{"a client error is kept like a success", broken{keepsRefusals: true}, "recorded refusal", ""},
		{"a client error keeps writes", broken{keepsWrites: true}, "recorded refusal", ""},
		{"a recorded client error runs again", broken{runsAfterRefusals: true}, "recorded refusal", ""},
		{"any key is taken", broken{anyKey: true}, "malformed keys, spellings of a key, echo of the key", ""},
		{"no key is needed", broken{keyless: true}, "missing key, malformed keys", ""},
		{"long keys are cut", broken{shortKeys: true}, "malformed keys, spellings of a key", ""},
		{"quoted and bare keys differ", broken{bareKeys: true}, "spellings of a key, echo of the key", ""},
		{"a malformed key is echoed", broken{echoesAny: true}, "malformed keys", ""},
		{"no key is echoed", broken{noEcho: true}, "echo of the key", "replay fidelity"},
		{"a second connection is taken", broken{twoConnections: true}, "concurrent duplicates", ""},
		{"40001 is an error", broken{noRetry: true}, "serialization failure", ""},
		{"a lost connection is an error", broken{lostIsError: true}, "lost request, lost answer", ""},
		{"a lost commit is done again", broken{lostRunsAgain: true}, "lost request, lost answer", ""},
		{"the commit is not looked at", broken{trustsCommit: true}, "failing commit", ""},
		{"a setting is left on the connection", broken{leavesSetting: true}, "connections", ""},
		{"no answer says whether to retry", broken{noAdvice: true}, "whether to retry", ""},
		{"every answer says that it helps to retry", broken{advisesAll: true}, "whether to retry", ""},
		{"no answer says that it helps to retry", broken{advisesNone: true}, "whether to retry", ""},
		{"a replay does not say whether to retry", broken{replaysUnadvised: true}, "whether to retry", ""},
		{"503 does not say when to retry", broken{noRetryAfter: true}, "whether to retry", ""},
		{"a lock is left on the connection", broken{leavesLock: true}, "connections", "concurrent duplicates"},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			wantCaught(t, careful{broken: c.broken}, c.caught, c.also)
		})
	}
}

// Rules of one profile, or of operations of one kind.
func TestBrokenKindsAreCaught(t *testing.T) {
	cases := []struct {
		rule   string
		broken careful
		caught string
		also   string
	}{
		{"stripe: a mismatch is 422", careful{profile: "stripe", broken: broken{reusedIs: 422}}, "mismatch", ""},
		{"stripe: twins wait", careful{profile: "stripe", broken: broken{waits: true}}, "concurrent duplicates", ""},
		{"stripe: a key is required", careful{profile: "stripe", broken: broken{keyNeeded: true}}, "unprotected requests", ""},
		{"stripe: a 500 is not recorded", careful{profile: "stripe", broken: broken{forgetsErrors: true}}, "failing statement, failing commit", ""},
		{"stripe: a request without a key is recorded", careful{profile: "stripe", broken: broken{recordsUnkeyed: true}}, "unprotected requests", ""},
		{"gateway: the payload is compared", careful{profile: "gateway", broken: broken{reusedIs: 422}}, "mismatch", ""},
		{"gateway: processing has a body", careful{profile: "gateway", broken: broken{flightHasBody: true}}, "concurrent duplicates", ""},
		{"gateway: a running twin is an error", careful{profile: "gateway", broken: broken{flightIs500: true}}, "concurrent duplicates", ""},
		{"gateway: a duplicate is not marked", careful{profile: "gateway", broken: broken{unmarked: true}},
			"sequential duplicates, recorded refusal, disconnect, disconnect before the record, failing statement, failing commit", "concurrent duplicates"},
		{"gateway: a new request is not marked", careful{profile: "gateway", broken: broken{firstUnmarked: true}}, "sequential duplicates", "concurrent duplicates"},
		{"gateway: an unprotected request is marked", careful{profile: "gateway", broken: broken{marksUnprotected: true}}, "unprotected requests", ""},
		{"gateway: any key is taken", careful{profile: "gateway", broken: broken{anyKey: true}}, "malformed keys, echo of the key", ""},
		{"intent: a second key is an error", careful{intent: true, broken: broken{intentIs500: true}}, "business intent, expiry", "the database's clock"},
		{"return: a second key writes", careful{intent: true, returns: true, broken: broken{intentRunsAgain: true}}, "business intent, other values of an intent, expiry", "the database's clock"},
		{"tombstone: the body is stored", careful{tombstone: true, broken: broken{keepsBody: true}}, "replay fidelity", ""},
		{"tombstone: the location is lost", careful{tombstone: true, broken: broken{forgetsLocation: true}}, "replay fidelity", ""},
		{"sealed: the body can be read", careful{sealed: true, broken: broken{keepsBody: true}}, "replay fidelity", ""},
		{"force: not allowed, but done", careful{broken: broken{forcesAlways: true}}, "forced retry", ""},
		{"force: ignored", careful{forces: true, broken: broken{ignoresForce: true}}, "forced retry, forced retries at once", ""},
		{"force: a run that fails loses the record", careful{forces: true, broken: broken{forcesFirst: true}}, "forced retry", ""},
		{"force: two run at the same time", careful{forces: true, broken: broken{forcesAtOnce: true}}, "forced retries at once", ""},
		{"force: the second of two is turned away", careful{forces: true, broken: broken{forcesAlone: true}}, "forced retries at once", ""},
		{"force: the second of two is answered by the first", careful{forces: true, broken: broken{forcesTogether: true}}, "forced retries at once", ""},
		{"return: the row is shown to any request", careful{intent: true, returns: true, broken: broken{returnsAny: true}}, "other values of an intent", ""},
		{"stripe: an answer in flight does not say when to retry", careful{profile: "stripe", broken: broken{noRetryAfter: true}}, "whether to retry", ""},
		{"gateway: processing does not say when to retry", careful{profile: "gateway", broken: broken{noRetryAfter: true}}, "whether to retry", ""},
		{"own bodies: no fingerprint", careful{hides: true, broken: broken{noFingerprint: true}}, "mismatch", ""},
		{"own bodies: stripe: a mismatch is 422", careful{profile: "stripe", hides: true, broken: broken{reusedIs: 422}}, "mismatch", ""},
		{"own bodies: twins are not waited for", careful{hides: true, broken: broken{noWait: true}}, "concurrent duplicates", ""},
		{"own bodies: stripe: a running twin is an error", careful{profile: "stripe", hides: true, broken: broken{flightIs500: true}}, "concurrent duplicates", ""},
		{"own bodies: no key is needed", careful{hides: true, broken: broken{keyless: true}}, "missing key, malformed keys", ""},
		{"own bodies: tombstone: the location is lost", careful{tombstone: true, hides: true, broken: broken{forgetsLocation: true}}, "replay fidelity", ""},
		{"own bodies: force: two run at the same time", careful{forces: true, hides: true, broken: broken{forcesAtOnce: true}}, "forced retries at once", ""},
		{"force: the old record stays", careful{forces: true, broken: broken{forcesBeside: true}}, "forced retry, forced retries at once", ""},
		{"no key: it is recorded", careful{keyFree: true, broken: broken{recordsUnkeyed: true}}, "nothing is recorded", ""},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			wantCaught(t, c.broken, c.caught, c.also)
		})
	}
}

// Where copies wait, the one that gives up is listened to as well.
func TestCopiesThatGiveUpAreAdvised(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short the kit does not wait for copies until they give up")
	}
	for _, c := range []struct {
		careful careful
		says    string
	}{
		{careful{hurried: true}, ""},
		{careful{hurried: true, broken: broken{noAdvice: true}}, "a copy of a running request: 409"},
		{careful{hurried: true, broken: broken{noRetryAfter: true}}, "a copy of a running request: 409"},
	} {
		kit := carefulKit(t, c.careful, carefulSweep)
		p := &probe{rig: newRig(t, &kit), t: t, op: &kit.Operations[0]}
		err := p.example()
		if err == nil {
			err = p.check(t, check{run: whetherToRetry}, &notes{})
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.careful, err)
		}
	}
}

// Sweeps that delete too much.
func TestBrokenSweepsAreCaught(t *testing.T) {
	const victims = "DELETE FROM idem.keys WHERE (scope, digest) IN (SELECT scope, digest FROM idem.keys WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT $1"
	cases := map[string]struct{ sweep, says string }{
		"IN with LIMIT and SKIP LOCKED":    {victims + " FOR UPDATE SKIP LOCKED)", "a batch of 20 has deleted"},
		"IN with LIMIT and without a lock": {victims + ")", "were deleted"},
		"no batches":                       {"DELETE FROM idem.keys WHERE expires_at <= clock_timestamp() AND $1 > 0", "a batch of 20 has deleted"},
		"fresh keys too": {"DELETE FROM idem.keys k USING (SELECT ctid AS at FROM idem.keys LIMIT $1 FOR UPDATE SKIP LOCKED) v WHERE k.ctid = v.at",
			"a key that has not expired was deleted"},
		"nothing": {"DELETE FROM idem.keys WHERE false AND $1 > 0", "are left"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			kit := carefulKit(t, careful{}, c.sweep)
			r := newRig(t, &kit)
			if err := r.sweep(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the check says %v, want %q", err, c.says)
			}
		})
	}
}

// wantCaught runs all checks on a broken handler. Skips are those of a handler
// that is not broken.
func wantCaught(t *testing.T, broken careful, caught, also string) {
	t.Helper()
	found := findings(t, carefulKit(t, broken, carefulSweep))
	want, may := names(caught), names(also)
	for _, name := range want {
		if err := found[name]; err == nil || skipped(err) {
			t.Errorf("%s does not catch it: %v", name, err)
		}
	}
	for name, err := range found {
		if errors.As(err, new(*pgconn.PgError)) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s has broken down itself: %v", name, err)
		}
		if !slices.Contains(want, name) && !slices.Contains(may, name) && !skipped(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// skipped: the check has neither passed nor failed.
func skipped(err error) bool { return errors.As(err, new(skip)) || errors.As(err, new(moot)) }

// findings are what the checks say about a kit with one operation, by check.
// What passes is not there.
func findings(t *testing.T, kit Kit) map[string]error {
	t.Helper()
	r := newRig(t, &kit)
	r.longestWait = 100 * time.Millisecond
	found := map[string]error{}
	add := func(name string, err error) {
		if err != nil {
			found[name] = err
		}
	}
	p := &probe{rig: r, t: t, op: &kit.Operations[0]}
	if err := p.example(); err != nil {
		return map[string]error{exampleCheck: err}
	}
	for _, c := range checksOf(p.op) {
		add(c.name, p.check(t, c, &notes{}))
	}
	add(sweepCheck, r.sweep())
	add(connectionsCheck, r.connections())
	return found
}

// names cuts a list at its commas.
func names(list string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(list, ", ", ","), func(c rune) bool { return c == ',' })
}
