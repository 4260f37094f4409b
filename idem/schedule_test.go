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
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// event is one thing that happens in a schedule.
type event struct {
	what string // "spend", "expire" or "sweep"
	who  int    // the identity
	// Of spend: the amounts asked for, each at a service. They go one after the
	// other, or, with meet, while the first is stopped in its business write.
	amounts []int64
	via     []int
	meet    bool
	fault   string // what goes wrong once: a cut of the connection, or a SQLSTATE
	end     string // of the meeting: "", "leave", "kill" (the first), "kill all"
	sweep   bool   // sweep while they meet
}

// identities: two scopes, two operations, two keys.
const identities = 8

// slotBudget is enough for one of most amounts: a second run meets too little.
const slotBudget = 25

var amounts = []int64{20, 20, 20, 10, 100}

var eventGen = rapid.Custom(func(t *rapid.T) event {
	ev := event{
		what: rapid.SampledFrom([]string{"spend", "spend", "spend", "spend", "expire", "sweep"}).Draw(t, "what"),
		who:  min(rapid.IntRange(0, identities).Draw(t, "who"), identities-1),
	}
	if ev.what != "spend" {
		return ev
	}
	ev.amounts = rapid.SliceOfN(rapid.SampledFrom(amounts), 1, 4).Draw(t, "amounts")
	ev.via = rapid.SliceOfN(rapid.IntRange(0, 1), len(ev.amounts), len(ev.amounts)).Draw(t, "via")
	ev.fault = rapid.SampledFrom([]string{"", "", "cut before", "cut answer", "cut commit", "cut committed",
		"40001", "40P01", "XX000", "P0001", "53200"}).Draw(t, "fault")
	if ev.meet = rapid.Bool().Draw(t, "meet"); ev.meet {
		ev.end = rapid.SampledFrom([]string{"", "", "leave", "kill", "kill all"}).Draw(t, "end")
		ev.sweep = rapid.Bool().Draw(t, "sweep")
	}
	return ev
})

// stage is where schedules run: two services that share no memory, on one
// database, all strategies in each.
type stage struct {
	*shop    // watches
	services []*shop
	cutter   idemtest.Cutter
	names    []string
	runs     int64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	url := idemtest.URL(t, shopTables, spendTables)
	st := &stage{shop: &shop{pool: idemtest.Open(t, url, nil)}, names: slices.Sorted(maps.Keys(spenders()))}
	for range 2 {
		var ops []*Operation
		for i, name := range st.names {
			ops = append(ops, spenders()[name](spendName(i, 0)), spenders()[name](spendName(i, 1)))
		}
		st.services = append(st.services, openShop(t, idemtest.Open(t, url, st.cutter.Watch), ops...))
	}
	return st
}

func spendName(strategy, which int) Name { return Name(fmt.Sprintf("Spend%d%c", strategy, 'a'+which)) }

// schedule is one run of a schedule.
type schedule struct {
	*stage
	t        *rapid.T
	strategy int
	rejects  bool
	run      int64
	ledgers  [identities]ledger
}

// Random schedules of clients, duplicates, other payloads, expiry, sweeps,
// clients that leave, and faults, against the model in model_test.go.
func TestSchedulesKeepTheModel(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	rapid.Check(t, func(t *rapid.T) {
		strategy := rapid.SampledFrom(st.names).Draw(t, "strategy")
		events := rapid.SliceOfN(eventGen, 1, 10).Draw(t, "events")
		s := st.begin(t, strategy)
		for _, ev := range events {
			s.happen(ev)
		}
		s.end()
	})
}

// begin makes a slot per identity.
func (st *stage) begin(t *rapid.T, strategy string) *schedule {
	st.runs++
	s := &schedule{stage: st, t: t, strategy: slices.Index(st.names, strategy), rejects: strings.HasSuffix(strategy, "reject"), run: st.runs}
	for i := range s.ledgers {
		s.ledgers[i] = ledger{slot: st.runs*identities + int64(i), budget: slotBudget}
	}
	st.must(t, "INSERT INTO slots SELECT $1::bigint * $2 + i, $3 FROM generate_series(0, $2 - 1) i", st.runs, identities, slotBudget)
	return s
}

func (st *stage) must(t *rapid.T, sql string, args ...any) {
	if _, err := st.pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// The identity's three parts.
func (s *schedule) tenant(who int) string { return fmt.Sprint("t", who&1) }
func (s *schedule) name(who int) Name     { return spendName(s.strategy, who>>1&1) }
func (s *schedule) key(who int) string    { return fmt.Sprintf("key-%d-%d", s.run, who>>2) }

func (s *schedule) happen(ev event) {
	l := &s.ledgers[ev.who]
	switch ev.what {
	case "expire":
		s.must(s.t, "UPDATE idem.keys SET expires_at = clock_timestamp() WHERE scope = $1 AND digest = $2",
			s.tenant(ev.who), digestOf("shop."+string(s.name(ev.who)), s.key(ev.who)))
		l.kept = nil
	case "sweep":
		s.clean()
	default:
		may := s.arm(ev)
		var requests []sent
		// A client error, a replay, a refusal: they are not stopped at the slot.
		if ev.meet && l.kept == nil && ev.amounts[0] <= l.budget {
			requests = s.meet(ev)
			may.inFlight = may.inFlight || s.rejects
			may.unavailable = may.unavailable || strings.HasPrefix(ev.end, "kill")
		} else {
			requests = s.inTurn(ev)
		}
		s.disarm()
		if err := l.settle(s.look(ev.who), requests, may); err != nil {
			s.t.Fatalf("%+v: %v", ev, err)
		}
	}
}

func (s *schedule) clean() {
	sweeper := Sweeper{Pool: s.pool, Batch: 3}
	if _, err := sweeper.Sweep(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// arm prepares the fault, and says what it excuses.
func (s *schedule) arm(ev event) allowance {
	switch ev.fault {
	case "":
	case "cut before":
		s.cutter.Arm(idemtest.CutBefore, s.key(ev.who))
	case "cut answer":
		s.cutter.Arm(idemtest.CutAnswer, s.key(ev.who))
	case "cut commit":
		s.cutter.Arm(idemtest.CutBefore, "COMMIT")
	case "cut committed":
		s.cutter.Arm(idemtest.CutAnswer, "COMMIT")
	default:
		s.must(s.t, "UPDATE fault SET code = $1, times = 1", ev.fault)
		s.must(s.t, "SELECT setval('faults', 1, false)")
	}
	cut := strings.HasPrefix(ev.fault, "cut") // who rejects may meet its own lost attempt
	return allowance{inFlight: s.rejects && cut, unavailable: ev.fault == "53200", internal: ev.fault == "XX000", invalid: ev.fault == "P0001"}
}

// disarm ends the disturbance: what runs on a connection that is lost has ended
// behind it, or the next request would meet it.
func (s *schedule) disarm() {
	s.cutter.Disarm()
	s.until("lost attempts end", func() bool {
		var n int64
		if err := s.pool.QueryRow(context.Background(), otherWork).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		return n == 0
	})
	s.must(s.t, "UPDATE fault SET code = '' WHERE code <> ''")
}

// pending is a request on its way.
type pending struct {
	amount int64
	leave  context.CancelFunc
	done   chan *httptest.ResponseRecorder
}

func (s *schedule) start(who, via int, amount int64) *pending {
	ctx, leave := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodPost, "/"+string(s.name(who))+"/1", strings.NewReader(spendBody(s.ledgers[who].slot, amount))).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(keyHeader, s.key(who))
	r.Header.Set("X-Tenant", s.tenant(who))
	p := &pending{amount, leave, make(chan *httptest.ResponseRecorder, 1)}
	go func() {
		w := newRecorder()
		s.services[via].mux.ServeHTTP(w, r)
		if ctx.Err() != nil {
			w = nil
		}
		p.done <- w
	}()
	return p
}

func (s *schedule) inTurn(ev event) []sent {
	var requests []sent
	for i, amount := range ev.amounts {
		p := s.start(ev.who, ev.via[i], amount)
		requests = append(requests, sent{amount, <-p.done})
		p.leave()
	}
	return requests
}

// meet stops the first request in its business write, starts the others beside
// it one by one, disturbs, and lets them go.
func (s *schedule) meet(ev event) []sent {
	tx, err := s.pool.Begin(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // an error says that it has ended
	if _, err := tx.Exec(context.Background(), "SELECT FROM slots WHERE id = $1 FOR UPDATE", s.ledgers[ev.who].slot); err != nil {
		s.t.Fatal(err)
	}
	all := make([]*pending, len(ev.amounts))
	for i, amount := range ev.amounts {
		waiting := s.waiting()
		all[i] = s.start(ev.who, ev.via[i], amount)
		s.until("a request is answered or waits", func() bool { return len(all[i].done) > 0 || s.waiting() > waiting })
	}
	if ev.sweep {
		s.clean()
	}
	requests := make([]sent, len(all))
	if ev.end == "leave" {
		all[0].leave()
	}
	s.kill(tx, ev.end)
	if err := tx.Rollback(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	for i, p := range all {
		requests[i] = sent{p.amount, <-p.done}
		p.leave()
	}
	for _, service := range s.services {
		service.work.wait(time.Minute)
	}
	return requests
}

// kill ends the backends that wait: of the one who is stopped at the slot, or all.
func (s *schedule) kill(tx pgx.Tx, end string) {
	waits := map[string]string{
		"kill":     "pg_backend_pid() = ANY (pg_blocking_pids(pid))",
		"kill all": "wait_event_type = 'Lock'",
	}[end]
	if waits == "" {
		return
	}
	if _, err := tx.Exec(context.Background(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "+waits); err != nil {
		s.t.Fatal(err)
	}
}

// waiting are the requests that wait for a lock, or in memory for a twin.
func (s *schedule) waiting() int64 {
	var n int64
	if err := s.pool.QueryRow(context.Background(), lockWaits).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	for _, service := range s.services {
		service.flights.mu.Lock()
		for _, m := range service.flights.waiting {
			n += int64(m)
		}
		service.flights.mu.Unlock()
	}
	return n
}

const otherWork = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
	AND backend_type = 'client backend' AND state <> 'idle'`

const lockWaits = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

func (s *schedule) until(what string, holds func() bool) {
	for deadline := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			s.t.Fatalf("it never came that %s", what)
		}
	}
}

// look reads what the database holds for an identity.
func (s *schedule) look(who int) sight {
	l := &s.ledgers[who]
	var now sight
	if err := s.pool.QueryRow(context.Background(), "SELECT budget, effects FROM slots WHERE id = $1", l.slot).Scan(&now.budget, &now.effects); err != nil {
		s.t.Fatal(err)
	}
	record, print := kept{amount: -1}, []byte(nil)
	err := s.pool.QueryRow(context.Background(), `SELECT status, body, fingerprint FROM idem.keys
		WHERE scope = $1 AND digest = $2 AND expires_at > clock_timestamp()`,
		s.tenant(who), digestOf("shop."+string(s.name(who)), s.key(who))).Scan(&record.status, &record.body, &print)
	if err == pgx.ErrNoRows {
		return now
	} else if err != nil {
		s.t.Fatal(err)
	}
	for _, amount := range append(amounts, 1) {
		op := s.services[0].operations[s.name(who)]
		inv, refused := s.services[0].called(op, []any{s.tenant(who)}, s.key(who), []any{l.slot, amount})
		if refused == nil && slices.Equal(inv.print, print) {
			record.amount = amount
		}
	}
	now.kept = &record
	return now
}

// end: every key runs or replays at once, and nothing is held.
func (s *schedule) end() {
	for who := range s.ledgers {
		s.happen(event{what: "spend", who: who, amounts: []int64{1}, via: []int{who & 1}})
	}
	s.until("no lock is held and no transaction is open", func() bool {
		var n int64
		if err := s.pool.QueryRow(context.Background(), leftovers).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		return n == 0
	})
	for _, service := range s.services {
		if service.flights.mu.Lock(); len(service.flights.running)+len(service.flights.waiting) > 0 {
			s.t.Errorf("left in memory: %v, %v", service.flights.running, service.flights.waiting)
		}
		service.flights.mu.Unlock()
	}
}

// leftovers counts what a request must not leave behind.
const leftovers = `SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
	+ (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%')`
