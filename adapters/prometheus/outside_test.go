package idemprom

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/outbox"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// An async operation is one request: what the worker does later is counted apart.
func TestBackgroundIsCountedApart(t *testing.T) {
	o, reg := observer(t)
	end := idem.OperationEnd{OperationStart: idem.OperationStart{Service: "shop", Operation: "Pay"}, Event: idem.EventNew, Status: 202}
	o.OperationEnded(t.Context(), end)
	end.Status, end.Event, end.Background, end.Duration = 402, idem.EventClientError, true, time.Second
	o.OperationEnded(t.Context(), end)
	want := `
# HELP idemgen_background_runs_total Operations that no request waited for, by what became of them.
# TYPE idemgen_background_runs_total counter
idemgen_background_runs_total{event="client_error",operation="Pay",service="shop"} 1
# HELP idemgen_operations_total Requests to operations, by what became of them.
# TYPE idemgen_operations_total counter
idemgen_operations_total{event="new",operation="Pay",service="shop"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "idemgen_operations_total", "idemgen_background_runs_total"); err != nil {
		t.Error(err)
	}
	if a, b := testutil.CollectAndCount(o.duration), testutil.CollectAndCount(o.backgroundDuration); a != 1 || b != 1 {
		t.Errorf("%d and %d histograms", a, b)
	}
}

// Deliveries by topic and outcome; the age only of events that have arrived.
func TestDeliveriesAreCounted(t *testing.T) {
	o, reg := observer(t)
	for _, outcome := range []outbox.Outcome{outbox.OutcomeRetry, outbox.OutcomeDispatched} {
		o.DeliveryEnded(t.Context(), outbox.DeliveryEnd{Database: "db/shop", Topic: "paid", Outcome: outcome, Duration: time.Millisecond, Age: time.Minute})
	}
	want := `
# HELP idemgen_deliveries_total Deliveries of events, by what became of them.
# TYPE idemgen_deliveries_total counter
idemgen_deliveries_total{database="db/shop",outcome="dispatched",topic="paid"} 1
idemgen_deliveries_total{database="db/shop",outcome="retry",topic="paid"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "idemgen_deliveries_total"); err != nil {
		t.Error(err)
	}
	if a, d := testutil.CollectAndCount(o.eventAge), testutil.CollectAndCount(o.deliveryDuration); a != 1 || d != 2 {
		t.Errorf("%d ages, %d durations", a, d)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("names against the conventions of Prometheus: %v %v", problems, err)
	}
}
