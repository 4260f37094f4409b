package idem

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

// ledger is the model of docs/semantics.md for one identity and the slot that it
// spends from: what is left, how often it was spent, and what the key's record
// says while it is valid.
type ledger struct {
	slot            int64
	budget, effects int64
	kept            *kept // nil: no record, or an expired one
}

// kept is a record.
type kept struct {
	amount int64 // what was asked for
	status int
	body   string
}

// sight is what the database holds for an identity.
type sight struct {
	budget, effects int64
	kept            *kept // its amount is -1 if its fingerprint is of none that was sent
}

// sent is a request and its answer, nil where the client went away.
type sent struct {
	amount int64
	answer *httptest.ResponseRecorder
}

// allowance is what disturbances excuse. All else must be as if there were none.
type allowance struct {
	inFlight    bool // rejecting: a twin may run
	unavailable bool // a backend was ended, or has no room
	internal    bool // an unexpected SQLSTATE
	invalid     bool // a SQLSTATE that blames the values
}

// settle compares what happened with the model, and brings the model up to date.
// The requests ran at the same time, or one after the other.
func (l *ledger) settle(now sight, requests []sent, may allowance) error {
	before, had := *l, l.kept != nil
	switch {
	case now.kept == nil && had:
		return fmt.Errorf("the record %v is gone", *l.kept)
	case now.kept != nil && had && *now.kept != *l.kept:
		return fmt.Errorf("the record %v became %v", *l.kept, *now.kept)
	case now.kept != nil && !had:
		if err := l.record(*now.kept, may); err != nil {
			return err
		}
	}
	if now.budget != l.budget || now.effects != l.effects {
		return fmt.Errorf("%d effects and %d left, from %d and %d; want %d and %d; record %v",
			now.effects, now.budget, before.effects, before.budget, l.effects, l.budget, now.kept)
	}
	fresh := 0
	for _, r := range requests {
		if err := l.judge(r, may); err != nil {
			return err
		}
		if r.answer != nil && l.kept != nil && r.amount == l.kept.amount && r.answer.Code == l.kept.status && !isReplay(r.answer) {
			fresh++
		}
	}
	if fresh > 1 || fresh > 0 && had {
		return fmt.Errorf("%d first answers, one record before: %v", fresh, had)
	}
	return nil
}

// record takes a new record over, if a request can have brought it about.
func (l *ledger) record(made kept, may allowance) error {
	enough := made.amount >= 0 && made.amount <= l.budget
	done := fmt.Sprintf(`{"id":%d,"effects":%d,"budget":%d}`, l.slot, l.effects+1, l.budget-made.amount)
	switch {
	case made.status == 201 && enough && made.body == done:
		l.effects++
		l.budget -= made.amount
	case made.status == 409 && !enough && hasCode(made.body, "too_little"):
	case made.status == 422 && enough && may.invalid && hasCode(made.body, "invalid-value"):
	default:
		return fmt.Errorf("%d left, recorded %v", l.budget, made)
	}
	l.kept = &made
	return nil
}

// judge compares an answer with the record that is there now.
func (l *ledger) judge(r sent, may allowance) error {
	if r.answer == nil {
		return nil
	}
	status, body := r.answer.Code, r.answer.Body.String()
	switch {
	case l.kept != nil && r.amount == l.kept.amount && status == l.kept.status && body == l.kept.body:
	case l.kept != nil && r.amount != l.kept.amount && status == 422 && hasCode(body, "key-reused"):
	case may.inFlight && status == 409 && hasCode(body, "in-flight"):
	case may.unavailable && status == 503 && hasCode(body, "unavailable"):
	case may.internal && status == 500 && hasCode(body, "internal"):
	default:
		return fmt.Errorf("%d was answered %d %s; record %v, left %d", r.amount, status, body, l.kept, l.budget)
	}
	return nil
}

func (k kept) String() string { return fmt.Sprintf("of %d: %d %s", k.amount, k.status, k.body) }

func hasCode(body, code string) bool { return strings.Contains(body, `"code":"`+code+`"`) }

func isReplay(w *httptest.ResponseRecorder) bool { return w.Header().Get(replayedHeader) == "true" }
