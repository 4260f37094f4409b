package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// A dispatch delivers all that is due, each with its key, and nothing twice.
func TestDispatchDeliversWhatIsDue(t *testing.T) {
	pool := idemtest.Pool(t, events("order.created", "", 1, 250))
	sink := &recorder{}
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"order.*": sink}}
	done, err := d.Dispatch(t.Context())
	if err != nil || done != (Dispatched{Processed: 250}) {
		t.Fatalf("%+v %v", done, err)
	}
	if done, err = d.Dispatch(t.Context()); err != nil || done != (Dispatched{}) {
		t.Errorf("again: %+v %v", done, err)
	}
	seen := sink.seen()
	slices.Sort(seen)
	if got := len(slices.Compact(seen)); got != 250 || len(sink.keys) != 250 {
		t.Errorf("%d deliveries of %d events", len(sink.keys), got)
	}
	if got := statuses(t, pool); got != "PROCESSED 250" {
		t.Error(got)
	}
}

// What a sink is given is what was written.
func TestEventIsWhatWasWritten(t *testing.T) {
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
		VALUES ('acme', 'svc.Pay', 'paid', 'k-1', 'o 1', '{"traceparent": "00-aa-bb-01"}', '{"b": 1.0, "a": 90071992547409931}')`)
	var got Event
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"*": Func(func(_ context.Context, e Event) error {
		got = e
		return nil
	})}}
	if _, err := d.Dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.Scope != "acme" || got.Operation != "svc.Pay" || got.Topic != "paid" || got.Key != "k-1" || got.OrderKey != "o 1" || !got.Ordered ||
		got.Headers["traceparent"] != "00-aa-bb-01" || string(got.Payload) != `{"b": 1.0, "a": 90071992547409931}` ||
		got.Try != 1 || time.Since(got.CreatedAt).Abs() > time.Minute || len(got.ID) != 36 {
		t.Errorf("%+v\n%s", got, got.Payload)
	}
}

// The longest pattern that fits takes an event; what none fits is left alone.
func TestSinksByTopic(t *testing.T) {
	var topics = []string{"order.created", "order.paid", "order", "orderly", "payment.x.y", "other"}
	pool := idemtest.Pool(t)
	for _, topic := range topics {
		run(t, pool, events(topic, "", 1, 3))
	}
	sinks := map[string]*recorder{"order.created": {}, "order.*": {}, "payment.*": {}, "payment.x.*": {}}
	given := map[string]Sink{}
	for pattern, sink := range sinks {
		given[pattern] = sink
	}
	if _, err := (&Dispatcher{Pool: pool, Sinks: given}).Dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{"order.created": "order.created-1", "order.*": "order.paid-1", "payment.*": "", "payment.x.*": "payment.x.y-1"} {
		got := sinks[pattern].seen()
		slices.Sort(got)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 3 || got[0] != want) {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	if left := ask[string](t, pool, "SELECT string_agg(DISTINCT topic, ' ') FROM idem.outbox WHERE status = 'PENDING' AND attempt = 0"); left != "order orderly other" {
		t.Error(left)
	}
}

// A failure is tried again later; a permanent one, and the last try, end as DEAD
// with the reason.
func TestFailures(t *testing.T) {
	pool := idemtest.Pool(t, events("a", "", 1, 4), "UPDATE idem.outbox SET failures = 8")
	sink := &recorder{fail: func(e Event) error {
		switch e.Key {
		case "a-1":
			return errors.New("come\x00 back")
		case "a-2":
			return Permanent(errors.New("never"))
		case "a-3":
			panic("oh")
		}
		return nil
	}}
	var ends []Status
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": sink}, Tries: 10, Ended: func(_ context.Context, _ Event, end End) { ends = append(ends, end.Status) }}
	done, err := d.Dispatch(t.Context())
	if err != nil || done != (Dispatched{Processed: 1, Dead: 1, Failed: 2}) {
		t.Fatalf("%+v %v", done, err)
	}
	const rows = `SELECT string_agg(concat_ws(' ', key, status, attempt, failures, reason), E'\n' ORDER BY key) FROM idem.outbox`
	want := "a-1 PENDING 1 9 come back\na-2 DEAD 1 9 never\na-3 PENDING 1 9 the sink panicked: oh\na-4 PROCESSED 1 8"
	if got := ask[string](t, pool, rows); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if wait := ask[float64](t, pool, "SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM idem.outbox WHERE status = 'PENDING'"); wait < 40 || wait > 128 {
		t.Errorf("the next try is in %f s", wait)
	}
	run(t, pool, "UPDATE idem.outbox SET due_at = clock_timestamp() WHERE status = 'PENDING'")
	if done, err = d.Dispatch(t.Context()); err != nil || done != (Dispatched{Dead: 2}) {
		t.Errorf("%+v %v", done, err)
	}
	if got := ask[string](t, pool, "SELECT reason FROM idem.outbox WHERE key = 'a-1'"); got != "the last of 10 tries failed: come back" {
		t.Error(got)
	}
	if slices.Sort(ends); len(ends) != 4 || ends[0] != Dead || ends[3] != Processed {
		t.Error(ends)
	}
}

// Case outbox-1: two transactions take their turn, the second commits first. Both
// events are delivered, whoever looks in between.
func TestCase_outbox_1_LateCommit(t *testing.T) {
	pool := idemtest.Pool(t)
	first, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Rollback(context.Background()) }()
	if _, err := first.Exec(t.Context(), events("a", "same", 1, 1)); err != nil {
		t.Fatal(err)
	}
	run(t, pool, events("a", "same", 2, 1))
	sink := &recorder{}
	d := &Dispatcher{Pool: pool, Sinks: map[string]Sink{"a": sink}}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if got := strings.Join(sink.seen(), " "); got != "a-2 a-1" {
		t.Error(got)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	pool := idemtest.Pool(t)
	sink := Func(func(context.Context, Event) error { return nil })
	for want, d := range map[string]*Dispatcher{
		"set Dispatcher.Sinks":    {Pool: pool},
		"set Dispatcher.Pool":     {Sinks: map[string]Sink{"a": sink}},
		`Sinks["a"] is nil`:       {Pool: pool, Sinks: map[string]Sink{"a": nil}},
		"a key of Dispatcher":     {Pool: pool, Sinks: map[string]Sink{"": sink}},
		`Sinks["a*b"]: a * stand`: {Pool: pool, Sinks: map[string]Sink{"a*b": sink}},
	} {
		if err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Waits double from half a second to five minutes, and what the receiver asked
// for is the least.
func TestWaitAfter(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 5: 8 * time.Second, 10: 256 * time.Second, 11: 5 * time.Minute, 1000: 5 * time.Minute} {
		for range 100 {
			if got := waitAfter(failures, 0); got > want || got < want*3/4-1 {
				t.Fatalf("after %d failures %s, want at most %s", failures, got, want)
			}
		}
	}
	if got := waitAfter(1, time.Hour); got != time.Hour {
		t.Error(got)
	}
}
