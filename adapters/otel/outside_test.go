package idemotel

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/outbox"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counts are the counts of all histograms, by instrument.
func (r *rig) counts(t *testing.T) map[string]uint64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
				for _, p := range h.DataPoints {
					out[m.Name] += p.Count
				}
			}
		}
	}
	return out
}

// An async operation is one request: what the worker does later is measured apart,
// and its span says so.
func TestBackgroundIsMeasuredApart(t *testing.T) {
	r := newRig(t)
	start := idem.OperationStart{Service: "shop", Operation: "Pay"}
	r.OperationEnded(r.OperationStarted(t.Context(), start), idem.OperationEnd{OperationStart: start, Event: idem.EventNew, Status: 202})
	r.OperationEnded(r.OperationStarted(t.Context(), start),
		idem.OperationEnd{OperationStart: start, Event: idem.EventNew, Status: 201, Background: true, Duration: time.Second})
	counts := r.counts(t)
	if counts["idemgen.operation.duration"] != 1 || counts["idemgen.background.duration"] != 1 {
		t.Errorf("%v", counts)
	}
	for n, want := range []string{"false", "true"} {
		if _, got := r.attributes(t, n); got["idemgen.background"] != want {
			t.Errorf("span %d: %v", n, got)
		}
	}
}

func TestDeliveriesAreMeasured(t *testing.T) {
	r := newRig(t)
	for _, outcome := range []outbox.Outcome{outbox.OutcomeRetry, outbox.OutcomeDispatched} {
		r.DeliveryEnded(t.Context(), outbox.DeliveryEnd{Database: "db/shop", Topic: "paid", Outcome: outcome, Status: 200, Age: time.Minute})
	}
	if counts := r.counts(t); counts["idemgen.delivery.duration"] != 2 || counts["idemgen.event.age"] != 1 {
		t.Errorf("%v", counts)
	}
}
