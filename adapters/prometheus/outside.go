package idemprom

import (
	"context"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/outbox"
	"github.com/prometheus/client_golang/prometheus"
)

// outside are the metrics of what no request waits for.
type outside struct {
	background         *prometheus.CounterVec
	backgroundDuration *prometheus.HistogramVec
	deliveries         *prometheus.CounterVec
	deliveryDuration   *prometheus.HistogramVec
	eventAge           *prometheus.HistogramVec
}

var _ outbox.Observer = (*Observer)(nil)

func newOutside(counter func(name, help string, labels ...string) *prometheus.CounterVec) outside {
	histogram := func(name, help string, last int, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "idemgen", Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, last),
		}, labels)
	}
	return outside{
		background: counter("background_runs_total", "Operations that no request waited for, by what became of them.", "service", "operation", "event"),
		backgroundDuration: histogram("background_duration_seconds", "Time that a worker took for an operation.", 18,
			"service", "operation", "event"),
		deliveries:       counter("deliveries_total", "Deliveries of events, by what became of them.", "database", "topic", "outcome"),
		deliveryDuration: histogram("delivery_duration_seconds", "Time that a delivery took.", 15, "topic", "outcome"),
		eventAge:         histogram("event_age_seconds", "Time from the making of an event until it was delivered.", 24, "topic"),
	}
}

func (o outside) collectors() []prometheus.Collector {
	return []prometheus.Collector{o.background, o.backgroundDuration, o.deliveries, o.deliveryDuration, o.eventAge}
}

// backgroundEnded counts what a worker did. The request of an async operation has
// been counted as new when it was accepted.
func (o outside) backgroundEnded(end idem.OperationEnd) {
	labels := []string{end.Service, string(end.Operation), string(end.Event)}
	o.background.WithLabelValues(labels...).Inc()
	o.backgroundDuration.WithLabelValues(labels...).Observe(end.Duration.Seconds())
}

// DeliveryEnded implements outbox.Observer.
func (o outside) DeliveryEnded(_ context.Context, end outbox.DeliveryEnd) {
	o.deliveries.WithLabelValues(end.Database, end.Topic, string(end.Outcome)).Inc()
	o.deliveryDuration.WithLabelValues(end.Topic, string(end.Outcome)).Observe(end.Duration.Seconds())
	if end.Outcome == outbox.OutcomeDispatched {
		o.eventAge.WithLabelValues(end.Topic).Observe(end.Age.Seconds())
	}
}
