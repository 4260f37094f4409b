package idemtest

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A handler that breaks one rule is caught by the checks of that rule.
func TestBrokenHandlersAreCaught(t *testing.T) {
	cases := []struct {
		rule   string
		broken careful
		caught string // by, separated by commas
		also   string // by some schedules, or for another reason
	}{
		{"nothing is broken", careful{}, "", ""},
		{"the claim is outside the transaction", careful{claimOutside: true}, "failing statement, failing commit, failing record, serialization failure", ""},
		{"the record is outside the transaction", careful{recordOutside: true}, "failing record, lost answer", "concurrent duplicates"},
		{"the record comes before the effect", careful{recordFirst: true}, "failing statement, failing commit, serialization failure",
			"sequential duplicates, replay fidelity, concurrent duplicates"},
		{"one scope for all", careful{globalScope: true}, "scope isolation, slot poisoning", ""},
		{"no fingerprint", careful{noFingerprint: true}, "mismatch", ""},
		{"a fingerprint of raw bytes", careful{rawFingerprint: true}, "other spelling", ""},
		{"a 500 is stored", careful{keepsErrors: true}, "failing statement, failing commit", ""},
		{"the work ends with the client", careful{requestContext: true}, "disconnect", ""},
		{"the record ends with the client", careful{recordsRequestly: true}, "disconnect, failing record, lost answer", "concurrent duplicates"},
		{"twins are not waited for", careful{noWait: true}, "concurrent duplicates", ""},
		{"twins run", careful{noLock: true}, "concurrent duplicates", ""},
		{"a replay has other bytes", careful{otherBytes: true}, "sequential duplicates, concurrent duplicates", ""},
		{"a replay is not marked", careful{unmarked: true}, "sequential duplicates, concurrent duplicates, disconnect", ""},
		{"cookies are stored", careful{storesCookies: true}, "replay fidelity", ""},
		{"expired records are replayed", careful{immortal: true}, "expiry", ""},
		{"a replay extends", careful{extends: true}, "expiry", ""},
		{"any key is taken", careful{anyKey: true}, "malformed keys", ""},
		{"no key is needed", careful{keyless: true}, "missing key, malformed keys", ""},
		{"a second connection is taken", careful{twoConnections: true}, "concurrent duplicates", ""},
		{"40001 is an error", careful{noRetry: true}, "serialization failure", ""},
		{"a lost connection is an error", careful{lostIsError: true}, "lost request, lost answer", ""},
		{"a lost commit is done again", careful{lostRunsAgain: true}, "lost request, lost answer", ""},
		{"the commit is not looked at", careful{trustsCommit: true}, "failing commit", ""},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			wantCaught(t, findings(t, carefulKit(t, c.broken, carefulSweep)), c.caught, c.also)
		})
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

func wantCaught(t *testing.T, found map[string]error, caught, also string) {
	t.Helper()
	want, may := names(caught), names(also)
	for _, name := range want {
		if found[name] == nil {
			t.Errorf("%s does not catch it", name)
		}
	}
	for name, err := range found {
		if !slices.Contains(want, name) && !slices.Contains(may, name) || errors.As(err, new(skip)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// names cuts a list at its commas.
func names(list string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(list, ", ", ","), func(c rune) bool { return c == ',' })
}
