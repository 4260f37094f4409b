package idem

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// outcomeCase is an outcome, and how an operation comes to it.
type outcomeCase struct {
	amount int64 // of a slot with 25
	// code, tab and rule are what the business write fails with, so many times.
	code, tab, rule string
	times           int64
	// during disturbs the operation while its write is stopped.
	during func(*stop)
	cut    idemtest.CutPoint
	text   string // that the connection is cut at

	status int // 0: the client is gone
	word   string
	keep   time.Duration // of the record, 0 for none
}

const (
	keptSuccess = 24 * time.Hour
	keptError   = 2 * time.Hour
)

// forever is more often than anything is retried.
const forever = 99

// outcomeCases is the table of docs/semantics.md, section "Outcomes", and the ones it
// refers to: violated constraints and failures.
func outcomeCases() map[string]outcomeCase {
	all := map[string]outcomeCase{
		"success":                {amount: 20, status: 201, keep: keptSuccess},
		"@empty":                 {amount: 100, status: 409, word: "too_little", keep: keptError},
		"@error of a constraint": {code: "23514", tab: "slots", rule: "slot_rule", status: 402, word: "slot_rule", keep: keptError},
		"@error of a SQLSTATE":   {code: "ZZ001", status: 403, word: "state_rule", keep: keptError},
		"unique":                 {code: "23505", tab: "slots", status: 409, word: "already-exists", keep: keptError},
		"exclusion":              {code: "23P01", tab: "slots", status: 409, word: "already-exists", keep: keptError},
		"no such reference":      {code: "23503", tab: "slots", status: 422, word: "reference-not-found", keep: keptError},
		"still referenced":       {code: "23503", tab: "other", status: 409, word: "still-referenced", keep: keptError},
		"check":                  {code: "23514", tab: "slots", status: 422, word: "invalid-value", keep: keptError},
		"not null":               {code: "23502", tab: "slots", status: 422, word: "invalid-value", keep: keptError},
		"of another table":       {code: "23505", tab: "other", status: 500, word: "internal"},
		"unexpected":             {code: "XX000", status: 500, word: "internal"},
		"no such column":         {code: "42703", status: 500, word: "internal"},
		"stale for good":         {code: "0A000", times: forever, status: 500, word: "internal"},
		"serialization":          {code: "40001", times: forever, status: 503, word: "unavailable"},
		"client leaves":          {during: func(s *stop) { s.leave() }, keep: keptSuccess},
		"backend ended":          {during: (*stop).kill, status: 503, word: "unavailable"},
		"cut before":             {text: "key-of-cut-before", status: 201, keep: keptSuccess},
		"cut behind":             {text: "key-of-cut-behind", cut: idemtest.CutAnswer, status: 201, keep: keptSuccess},
		"commit cut":             {text: "COMMIT", status: 201, keep: keptSuccess},
		"commit unanswered":      {text: "COMMIT", cut: idemtest.CutAnswer, status: 201, keep: keptSuccess},
		"error cut":              {amount: 100, text: "key-of-error-cut", cut: idemtest.CutAnswer, status: 409, word: "too_little", keep: keptError},
	}
	for _, code := range []string{"22P02", "22001", "22003", "22007", "22008", "22021", "22012", "21000", "54000", "P0001", "IDM02"} {
		all["value "+code] = outcomeCase{code: code, status: 422, word: "invalid-value", keep: keptError}
	}
	for _, code := range []string{"40001", "40P01", "26000", "42P05", "0A000"} {
		all[code+" once"] = outcomeCase{code: code, times: 1, status: 201, keep: keptSuccess}
	}
	for _, code := range []string{"08006", "53200", "53300", "57014", "57P03", "25006", "25P03", "25P04"} {
		all["outage "+code] = outcomeCase{code: code, status: 503, word: "unavailable"}
	}
	return all
}

// Every way to end, in every strategy: the claim is finalised or freed. The key
// replays or runs at once, where a claim that is held would be refused, and no
// lock, transaction or waiter is left.
func TestCase_crash_4(t *testing.T) {
	for _, strategy := range slices.Sorted(maps.Keys(spenders())) {
		if testing.Short() && !strings.HasSuffix(strategy, "reject") {
			continue
		}
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			e := newOutcomeRun(t, spenders()[strategy]("Spend"))
			for _, name := range slices.Sorted(maps.Keys(outcomeCases())) {
				t.Run(name, func(t *testing.T) { e.meet(t, name, outcomeCases()[name]) })
			}
		})
	}
}

// outcomeRun takes one operation to every outcome.
type outcomeRun struct {
	*shop
	watch  *shop
	cutter idemtest.Cutter
	slot   int64
}

func newOutcomeRun(t *testing.T, op *Operation) *outcomeRun {
	t.Helper()
	url := idemtest.URL(t, shopTables, spendTables)
	e := &outcomeRun{watch: &shop{pool: idemtest.Open(t, url, nil)}}
	e.shop = openShop(t, idemtest.Open(t, url, e.cutter.Watch), op)
	return e
}

func (e *outcomeRun) meet(t *testing.T, name string, o outcomeCase) {
	e.slot++
	e.watch.exec(t, "INSERT INTO slots VALUES ($1, 25)", e.slot)
	e.watch.exec(t, "UPDATE fault SET code = $1, tab = $2, rule = $3, times = $4", o.code, o.tab, o.rule, max(o.times, 1))
	e.watch.exec(t, "SELECT setval('faults', 1, false)")
	if o.text != "" {
		e.cutter.Arm(o.cut, o.text)
	}
	if o.amount == 0 {
		o.amount = 20
	}
	send := e.sender("key of "+name, o.amount)
	first := e.first(t, o, send)
	e.cutter.Disarm()
	e.watch.exec(t, "UPDATE fault SET code = ''")
	if first != nil && first.Code == 409 && e.isGhost(o, first) {
		e.wantNothingHeld(t) // the server has seen by now that the connection is gone
		wantOutcome(t, send(t.Context()), o.status, o.word)
		return
	}
	if first != nil {
		wantOutcome(t, first, o.status, o.word)
	}
	e.wantRecord(t, name, o)
	e.wantNothingHeld(t)
	e.wantNext(t, o, first, send(t.Context()))
	e.wantNothingHeld(t)
}

// isGhost: who rejects may meet its own attempt, which the server goes on with as
// long as it does not know that the connection is gone.
func (e *outcomeRun) isGhost(o outcomeCase, w *httptest.ResponseRecorder) bool {
	return o.text != "" && e.Operation("Spend").Policy.Wait == 0 && hasCode(w.Body.String(), "in-flight")
}

// wantNext: the record, or a run.
func (e *outcomeRun) wantNext(t *testing.T, o outcomeCase, first, again *httptest.ResponseRecorder) {
	t.Helper()
	effects := int64(1)
	switch {
	case o.keep == 0:
		wantOutcome(t, again, 201, "")
		if isReplay(again) {
			t.Errorf("a replay of nothing: %s", again.Body)
		}
	case first == nil:
		wantOutcome(t, again, 201, "")
		if !isReplay(again) {
			t.Error("the work did not go on")
		}
	default:
		wantOutcome(t, again, o.status, o.word)
		if !isReplay(again) || again.Body.String() != first.Body.String() {
			t.Errorf("%s is no replay of %s", again.Body, first.Body)
		}
		if o.status >= 400 {
			effects = 0
		}
	}
	if n := e.watch.count(t, "SELECT effects FROM slots WHERE id = $1", e.slot); n != effects {
		t.Errorf("%d effects, want %d", n, effects)
	}
}

func wantOutcome(t *testing.T, w *httptest.ResponseRecorder, status int, word string) {
	t.Helper()
	wantStatus(t, w, status)
	if word != "" {
		wantCode(t, w, status, word)
	}
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("PostgreSQL's text: %s", w.Body)
	}
}

// sender gives the same request each time.
func (e *outcomeRun) sender(key string, amount int64) func(context.Context) *httptest.ResponseRecorder {
	body := spendBody(e.slot, amount)
	return func(ctx context.Context) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/Spend/1", strings.NewReader(body)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(keyHeader, strings.ReplaceAll(key, " ", "-"))
		w := newRecorder()
		e.mux.ServeHTTP(w, r)
		if ctx.Err() != nil {
			return nil
		}
		return w
	}
}

// first sends the request for the first time, stopped in its write if there is
// something to do meanwhile.
func (e *outcomeRun) first(t *testing.T, o outcomeCase, send func(context.Context) *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if o.during == nil {
		return send(ctx)
	}
	end := hold(t, e.watch.pool, fmt.Sprintf("SELECT FROM slots WHERE id = %d FOR UPDATE", e.slot))
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() { done <- send(ctx) }()
	awaitBlocked(t, e.watch)
	o.during(&stop{t, e, cancel})
	end(false)
	w := <-done
	e.work.wait(time.Minute)
	return w
}

// stop is an operation stopped in its write.
type stop struct {
	t     *testing.T
	e     *outcomeRun
	leave context.CancelFunc
}

func (s *stop) kill() {
	s.e.watch.exec(s.t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
}

// wantRecord: as long as the outcome says, by the database's clock.
func (e *outcomeRun) wantRecord(t *testing.T, name string, o outcomeCase) {
	t.Helper()
	records := `SELECT count(*) FROM idem.keys WHERE key = replace($1, ' ', '-')`
	if n := e.watch.count(t, records, "key of "+name); n > 0 != (o.keep > 0) {
		t.Fatalf("%d records", n)
	}
	if o.keep == 0 {
		return
	}
	left := e.watch.count(t, `SELECT extract(epoch FROM expires_at - clock_timestamp())::bigint FROM idem.keys WHERE key = replace($1, ' ', '-')`, "key of "+name)
	if want := int64(o.keep / time.Second); left > want || left < want-60 {
		t.Errorf("kept for %d s, want %d", left, want)
	}
}

// wantNothingHeld: no lock, no open transaction, nobody in memory.
func (e *outcomeRun) wantNothingHeld(t *testing.T) {
	t.Helper()
	e.work.wait(time.Minute)
	e.watch.awaitNothingHeld(t)
	e.flights.mu.Lock()
	defer e.flights.mu.Unlock()
	if len(e.flights.running)+len(e.flights.waiting) > 0 {
		t.Errorf("left in memory: %v, %v", e.flights.running, e.flights.waiting)
	}
}

// awaitNothingHeld returns when no request holds a lock or a transaction: a
// server needs a moment to see that a connection is gone.
func (s *shop) awaitNothingHeld(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.count(t, leftovers) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("locks or transactions are left")
		}
	}
}
