package idemotel

import (
	"context"
	"errors"

	"github.com/idemgen/idemgen/idem/outbox"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// outside are the instruments of what no request waits for.
type outside struct {
	background metric.Float64Histogram
	delivery   metric.Float64Histogram
	age        metric.Float64Histogram
}

var _ outbox.Observer = (*Observer)(nil)

func newOutside(m metric.Meter) (outside, error) {
	var all []error
	histogram := func(name, description string, bounds ...float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		all = append(all, err)
		return h
	}
	made := outside{
		background: histogram("idemgen.background.duration", "Time that a worker took for an operation that no request waited for; its count is that of the runs.",
			0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300),
		delivery: histogram("idemgen.delivery.duration", "Time that a delivery of an event took; its count is that of the deliveries.",
			0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
		age: histogram("idemgen.event.age", "Time from the making of an event until it was delivered.",
			0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400),
	}
	return made, errors.Join(all...)
}

// DeliveryEnded implements outbox.Observer.
func (o outside) DeliveryEnded(ctx context.Context, end outbox.DeliveryEnd) {
	topic := attribute.String("idemgen.topic", end.Topic)
	attributes := []attribute.KeyValue{
		attribute.String("idemgen.database", end.Database), topic, attribute.String("idemgen.outcome", string(end.Outcome)),
	}
	if end.Status > 0 {
		attributes = append(attributes, attribute.Int("http.response.status_code", end.Status))
	}
	o.delivery.Record(ctx, end.Duration.Seconds(), metric.WithAttributes(attributes...))
	if end.Outcome == outbox.OutcomeDispatched {
		o.age.Record(ctx, end.Age.Seconds(), metric.WithAttributes(topic))
	}
}
