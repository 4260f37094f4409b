package outbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// expireLeases is the end of all leases, by the database's clock.
const expireLeases = "UPDATE idem.outbox SET lease_until = clock_timestamp(), due_at = clock_timestamp() WHERE lease_owner IS NOT NULL"

// Case outbox-2: a dispatcher is gone after the receiver has accepted, before the
// mark. The event is delivered again, with the same key; and a late mark of the
// first owner changes nothing.
func TestCase_outbox_2_LateOwnerIsFenced(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 1))
	accepted, goOn := make(chan string, 2), make(chan struct{})
	hanging := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": Func(func(_ context.Context, e Event) error {
		accepted <- e.Key
		<-goOn
		return Permanent(errors.New("the late one says no"))
	})}}
	seen := &endRecorder{ended: make(chan DeliveryEnd, 1)}
	hanging.Observer = seen
	stop := start(t, hanging)
	first := <-accepted
	run(t, pool, expireLeases)
	other := &recorder{}
	if done, err := (&Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": other}}).Dispatch(t.Context()); err != nil || done.Processed != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	close(goOn)
	if end := <-seen.ended; end.Outcome != OutcomeLate {
		t.Errorf("%+v", end)
	}
	stop()
	if second := other.seen(); len(second) != 1 || second[0] != first {
		t.Errorf("%v after %s", second, first)
	}
	if got := ask[string](t, pool, "SELECT concat_ws(' ', status, attempt, failures, reason) FROM idem.outbox"); got != "PROCESSED 2 0" {
		t.Error(got)
	}
}

type endRecorder struct{ ended chan DeliveryEnd }

func (r *endRecorder) DeliveryEnded(_ context.Context, end DeliveryEnd) { r.ended <- end }

// A delivery that takes longer than the lease keeps it; where the lease is lost all
// the same, its context ends, and the rest of its group is not begun.
func TestLeaseIsRenewedAndItsLossIsNoticed(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "k", 1, 2))
	begun := make(chan context.Context, 3)
	var keys []string
	stop := start(t, &Dispatcher{Pool: pool, Lease: time.Second, Sinks: map[string]Sink{"a": Func(func(ctx context.Context, e Event) error {
		keys = append(keys, e.Key)
		begun <- ctx
		<-ctx.Done()
		return ctx.Err()
	})}})
	ctx := <-begun
	until := func() time.Time {
		return ask[time.Time](t, pool, "SELECT lease_until FROM idem.outbox WHERE key = 'a-1'")
	}
	was := until()
	eventually(t, "the lease is renewed", func() bool { return until().After(was.Add(time.Second)) })
	if ctx.Err() != nil {
		t.Error("the delivery was cut off")
	}
	run(t, pool, "UPDATE idem.outbox SET lease_owner = 'another', lease_until = clock_timestamp() + interval '1 hour', due_at = clock_timestamp() + interval '1 hour'")
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, errLeaseLost) {
		t.Error(cause)
	}
	stop()
	if got := strings.Join(keys, " "); got != "a-1" {
		t.Errorf("%s were begun", got)
	}
	if got := ask[string](t, pool, "SELECT string_agg(DISTINCT concat_ws(' ', status, lease_owner, failures), ',') FROM idem.outbox"); got != "PENDING another 0" {
		t.Error(got)
	}
}

// At the end of Run a delivery in flight may end, and what was not begun is given
// back at once.
func TestStopGivesLeasesBack(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "k", 1, 5), events("b", "", 1, 50))
	begun, goOn := make(chan string, 60), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := &Dispatcher{Pool: pool, Concurrency: 2, Sinks: map[string]Sink{"*": Func(func(_ context.Context, e Event) error {
		begun <- e.Key
		<-goOn
		return nil
	})}}
	go func() { ended <- d.Run(ctx) }()
	<-begun
	<-begun
	cancel()
	eventually(t, "what was not begun is given back", func() bool {
		return ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE status = 'PENDING' AND lease_owner IS NULL AND due_at <= clock_timestamp()") >= 49
	})
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := statuses(t, pool); got != "PENDING 53, PROCESSED 2" {
		t.Error(got)
	}
	if n := ask[int](t, pool, "SELECT count(*) FROM idem.outbox WHERE lease_owner IS NOT NULL OR failures > 0"); n != 0 || len(begun) != 0 {
		t.Errorf("%d are leased, %d more were begun", n, len(begun))
	}
}

// A delivery that does not end within the time of grace is cut off, and its event
// is given back without being counted as failed.
func TestStopCutsOffWhatTakesTooLong(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 1))
	ctx, cancel := context.WithCancel(t.Context())
	d := &Dispatcher{Pool: pool, Grace: time.Millisecond, Sinks: map[string]Sink{"*": Func(func(ctx context.Context, _ Event) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})}}
	if err := d.Run(ctx); err != nil {
		t.Error(err)
	}
	if got := ask[string](t, pool, "SELECT concat_ws(' ', status, failures, lease_owner, due_at <= clock_timestamp()) FROM idem.outbox"); got != "PENDING 0 t" {
		t.Error(got)
	}
}

// A delivery that takes longer than Timeout has failed.
func TestTimeoutIsAFailure(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 1))
	d := &Dispatcher{Pool: pool, Timeout: time.Millisecond, Tries: 1, Sinks: map[string]Sink{"*": Func(func(ctx context.Context, _ Event) error {
		<-ctx.Done()
		return ctx.Err()
	})}}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Dead != 1 {
		t.Errorf("%+v %v", done, err)
	}
	if got := ask[string](t, pool, "SELECT reason FROM idem.outbox"); got != "the last of 1 tries failed: the delivery did not end within 1ms" {
		t.Error(got)
	}
}

// A slow sink holds up no other one.
func TestSlowSinkHoldsUpNoOther(t *testing.T) {
	pool := idemtest.Pool(t, events("slow", "", 1, 50), events("z.quick", "", 1, 50))
	goOn, quick := make(chan struct{}), &recorder{}
	stop := start(t, &Dispatcher{Pool: pool, Batch: 4, Concurrency: 4, Interval: 10 * time.Millisecond, Sinks: map[string]Sink{
		"slow": Func(func(context.Context, Event) error { <-goOn; return nil }), "z.*": quick,
	}})
	eventually(t, "the quick sink has got everything", func() bool { return len(quick.seen()) == 50 })
	close(goOn)
	stop()
}

// Events are settled although the connections break meanwhile.
func TestSettlementSurvivesBrokenConnections(t *testing.T) {
	other := idemtest.Pool(t, events("a", "", 1, 5))
	pool := idemtest.Open(t, other.Config().ConnString(), func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["application_name"] = "breaks" })
	d := &Dispatcher{Pool: pool, Concurrency: 1, Sinks: map[string]Sink{"a": Func(func(context.Context, Event) error {
		run(t, other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'breaks'")
		return nil
	})}}
	start(t, d)
	eventually(t, "all are processed", func() bool { return statuses(t, other) == "PROCESSED 5" })
}
