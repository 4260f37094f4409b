package idemotel

import (
	"context"
	"errors"
	"strconv"

	"github.com/idemgen/idemgen/idem"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meters are the instruments.
type meters struct {
	duration  metric.Float64Histogram
	abandoned metric.Int64Counter
	retries   metric.Int64Counter
	sweeps    metric.Int64Counter
	keys      metric.Int64Counter
	events    metric.Int64Counter
	overdue   metric.Float64Gauge
	outside
}

func newMeters(m metric.Meter) (*meters, error) {
	var all []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		all = append(all, err)
		return c
	}
	made := &meters{
		abandoned: counter("idemgen.operation.abandoned", "{request}", "Requests whose client had gone away, or had been told to try again, when they ended."),
		retries:   counter("idemgen.operation.retries", "{attempt}", "Transactions that failed and were tried again."),
		sweeps:    counter("idemgen.sweeps", "{sweep}", "Sweeps of a database."),
		keys:      counter("idemgen.sweep.keys", "{key}", "Expired keys that were deleted."),
		events:    counter("idemgen.sweep.events", "{event}", "Processed events that were deleted."),
	}
	var err error
	made.duration, err = m.Float64Histogram("idemgen.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from the arrival of a request to its answer; its count is that of the requests."),
		metric.WithExplicitBucketBoundaries(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10))
	all = append(all, err)
	made.outside, err = newOutside(m)
	all = append(all, err)
	made.overdue, err = m.Float64Gauge("idemgen.sweep.overdue", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest expired key that is still there."))
	return made, errors.Join(append(all, err)...)
}

func (m *meters) measure(ctx context.Context, end *idem.OperationEnd) {
	of := operationOf(&end.OperationStart)
	attributes := append(of,
		attribute.String("idemgen.event", string(end.Event)), attribute.Int("http.response.status_code", end.Status))
	if end.Event == idem.EventServerError {
		attributes = append(attributes, errorType(end))
	}
	if end.Background {
		m.background.Record(ctx, end.Duration.Seconds(), metric.WithAttributes(attributes...))
		return
	}
	m.duration.Record(ctx, end.Duration.Seconds(), metric.WithAttributes(attributes...))
	if end.Abandoned {
		m.abandoned.Add(ctx, 1, metric.WithAttributes(of...))
	}
}

func (m *meters) count(ctx context.Context, retry *idem.OperationRetry) {
	attributes := append(operationOf(&retry.OperationStart), attribute.String("idemgen.retry.reason", string(retry.Reason)))
	m.retries.Add(ctx, 1, metric.WithAttributes(attributes...))
}

func (m *meters) sweep(ctx context.Context, end *idem.SweepEnd) {
	database := attribute.String("idemgen.database", end.Database)
	of := metric.WithAttributes(database)
	m.sweeps.Add(ctx, 1, metric.WithAttributes(database, attribute.Bool("idemgen.failed", end.Failed)))
	m.keys.Add(ctx, end.Keys, of)
	m.events.Add(ctx, end.Events, of)
	if !end.Failed {
		m.overdue.Record(ctx, end.Overdue.Seconds(), of)
	}
}

func operationOf(start *idem.OperationStart) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("idemgen.service", start.Service), attribute.String("idemgen.operation", string(start.Operation)),
	}
}

// errorType is the problem's code, or else the status.
func errorType(end *idem.OperationEnd) attribute.KeyValue {
	if end.Code != "" {
		return attribute.String("error.type", end.Code)
	}
	return attribute.String("error.type", strconv.Itoa(end.Status))
}
