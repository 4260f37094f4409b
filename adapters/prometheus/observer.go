// Package idemprom counts what idemgen's operations do, for Prometheus. Its
// Observer goes into Options.Observer of a service.
//
//	idemgen_operations_total{service,operation,event}              requests by what became of them
//	idemgen_operation_duration_seconds{service,operation,event}    and how long they took, waiting included
//	idemgen_operations_abandoned_total{service,operation}          whose client had gone away, or was told 503
//	idemgen_retries_total{service,operation,reason}                transactions that were tried again
//	idemgen_sweeps_total{database,result}                          sweeps, ok and failed
//	idemgen_swept_keys_total{database}                             expired keys that were deleted
//	idemgen_swept_events_total{database}                           processed events that were deleted
//	idemgen_overdue_seconds{database}                              age of the oldest expired key that is left
//	idemgen_background_runs_total{service,operation,event}         operations that no request waited for
//	idemgen_background_duration_seconds{service,operation,event}   and how long a worker took
//	idemgen_deliveries_total{database,topic,outcome}               deliveries of events by what became of them
//	idemgen_delivery_duration_seconds{topic,outcome}               and how long they took
//	idemgen_event_age_seconds{topic}                               how old events were when they were delivered
//
// Events and reasons are those of package idem: idem.Event, idem.RetryReason.
// Labels come from the service's own names, never from requests.
package idemprom

import (
	"context"

	"github.com/idemgen/idemgen/idem"
	"github.com/prometheus/client_golang/prometheus"
)

// Observer is an idem.Observer, RetryObserver and SweepObserver, and an
// outbox.Observer. It is safe for concurrent use, and may be shared by several
// services and their dispatchers.
type Observer struct {
	outside
	operations, abandoned, retries *prometheus.CounterVec
	sweeps, sweptKeys, sweptEvents *prometheus.CounterVec
	duration                       *prometheus.HistogramVec
	overdue                        *prometheus.GaugeVec
}

var (
	_ idem.Observer      = (*Observer)(nil)
	_ idem.RetryObserver = (*Observer)(nil)
	_ idem.SweepObserver = (*Observer)(nil)
)

// New registers the metrics with reg. It fails where reg has metrics of these
// names already: one Observer serves all services of a program.
func New(reg prometheus.Registerer) (*Observer, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "idemgen", Name: name, Help: help}, labels)
	}
	o := &Observer{
		operations: counter("operations_total", "Requests to operations, by what became of them.", "service", "operation", "event"),
		abandoned: counter("operations_abandoned_total",
			"Requests whose client had gone away, or had been told to try again, when they ended.", "service", "operation"),
		retries:     counter("retries_total", "Transactions that failed and were tried again.", "service", "operation", "reason"),
		sweeps:      counter("sweeps_total", "Sweeps of a database.", "database", "result"),
		sweptKeys:   counter("swept_keys_total", "Expired keys that were deleted.", "database"),
		sweptEvents: counter("swept_events_total", "Processed events that were deleted.", "database"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "idemgen", Name: "operation_duration_seconds", Help: "Time from the arrival of a request to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15), // 1 ms to 16 s
		}, []string{"service", "operation", "event"}),
		overdue: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "idemgen", Name: "overdue_seconds", Help: "Age of the oldest expired key that is still there.",
		}, []string{"database"}),
		outside: newOutside(counter),
	}
	return o, o.register(reg)
}

// register registers all or none.
func (o *Observer) register(reg prometheus.Registerer) error {
	all := []prometheus.Collector{o.operations, o.abandoned, o.retries, o.sweeps, o.sweptKeys, o.sweptEvents, o.duration, o.overdue}
	all = append(all, o.collectors()...)
	for i, metric := range all {
		if err := reg.Register(metric); err != nil {
			for _, done := range all[:i] {
				reg.Unregister(done)
			}
			return err
		}
	}
	return nil
}

// OperationEnded implements idem.Observer.
func (o *Observer) OperationEnded(_ context.Context, end idem.OperationEnd) {
	if end.Background {
		o.backgroundEnded(end)
		return
	}
	service, operation, event := end.Service, string(end.Operation), string(end.Event)
	o.operations.WithLabelValues(service, operation, event).Inc()
	o.duration.WithLabelValues(service, operation, event).Observe(end.Duration.Seconds())
	if end.Abandoned {
		o.abandoned.WithLabelValues(service, operation).Inc()
	}
}

// OperationRetried implements idem.RetryObserver.
func (o *Observer) OperationRetried(_ context.Context, retry idem.OperationRetry) {
	o.retries.WithLabelValues(retry.Service, string(retry.Operation), string(retry.Reason)).Inc()
}

// KeysSwept implements idem.SweepObserver.
func (o *Observer) KeysSwept(_ context.Context, end idem.SweepEnd) {
	o.sweptKeys.WithLabelValues(end.Database).Add(float64(end.Keys))
	o.sweptEvents.WithLabelValues(end.Database).Add(float64(end.Events))
	if end.Failed {
		o.sweeps.WithLabelValues(end.Database, "failed").Inc()
		return
	}
	o.sweeps.WithLabelValues(end.Database, "ok").Inc()
	o.overdue.WithLabelValues(end.Database).Set(end.Overdue.Seconds())
}
