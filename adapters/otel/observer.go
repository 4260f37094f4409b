// Package idemotel makes OpenTelemetry spans and metrics of what idemgen's
// operations do. Its Observer goes into Options.Observer of a service.
//
// A span is begun for each request, inside that of the HTTP server, and named as
// the operation; what a pgx tracer of the pool begins nests in it. Its status is
// an error for the event server_error alone: a client's mistake is no error of
// the service (the rule of HTTP server spans in OpenTelemetry's conventions). An
// attempt that is followed by another one is a span event.
//
// Attributes are http.route, http.request.method, http.response.status_code,
// error.type, db.response.status_code and those that begin with "idemgen.". None
// holds a key, an input or a body: idemgen.key_digest is equal for requests with
// the same key, and the key can't be read from it.
package idemotel

import (
	"context"

	"github.com/idemgen/idemgen/idem"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const scopeName = "github.com/idemgen/idemgen/adapters/otel"

// Options choose where spans and metrics go; nil is the global provider. A no-op
// provider leaves one of them out.
type Options struct {
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
}

// Observer is an idem.Observer, StartObserver, RetryObserver and SweepObserver, and
// an outbox.Observer. It is safe for concurrent use, and may be shared by several
// services and their dispatchers.
type Observer struct {
	tracer trace.Tracer
	meters
}

var (
	_ idem.Observer      = (*Observer)(nil)
	_ idem.StartObserver = (*Observer)(nil)
	_ idem.RetryObserver = (*Observer)(nil)
	_ idem.SweepObserver = (*Observer)(nil)
)

// New makes an Observer. It fails where a meter refuses an instrument.
func New(opts Options) (*Observer, error) {
	if opts.Tracers == nil {
		opts.Tracers = otel.GetTracerProvider()
	}
	if opts.Meters == nil {
		opts.Meters = otel.GetMeterProvider()
	}
	meters, err := newMeters(opts.Meters.Meter(scopeName))
	if err != nil {
		return nil, err
	}
	return &Observer{tracer: opts.Tracers.Tracer(scopeName), meters: *meters}, nil
}

// spanKey finds the span of this package in a context: others may have begun
// spans of their own in it.
type spanKey struct{}

func spanOf(ctx context.Context) trace.Span {
	if span, ok := ctx.Value(spanKey{}).(trace.Span); ok {
		return span
	}
	return trace.SpanFromContext(context.Background()) // one that records nothing
}

// OperationStarted implements idem.StartObserver.
func (o *Observer) OperationStarted(ctx context.Context, start idem.OperationStart) context.Context {
	attributes := []attribute.KeyValue{
		attribute.String("idemgen.service", start.Service),
		attribute.String("idemgen.operation", string(start.Operation)),
		attribute.String("idemgen.strategy", string(start.Strategy)),
	}
	if start.Method != "" {
		attributes = append(attributes,
			attribute.String("http.request.method", start.Method), attribute.String("http.route", start.Path))
	}
	ctx, span := o.tracer.Start(ctx, string(start.Operation), trace.WithAttributes(attributes...))
	return context.WithValue(traced(ctx), spanKey{}, span)
}

// traced lets the events that an operation writes keep the trace of its span.
func traced(ctx context.Context) context.Context {
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	if headers["traceparent"] == "" { // a no-op provider: the request's own headers count
		return ctx
	}
	return idem.WithTraceContext(ctx, headers["traceparent"], headers["tracestate"])
}

// OperationEnded implements idem.Observer.
func (o *Observer) OperationEnded(ctx context.Context, end idem.OperationEnd) {
	o.measure(ctx, &end)
	span := spanOf(ctx)
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("idemgen.event", string(end.Event)),
		attribute.Int("idemgen.attempts", end.Attempts),
		attribute.Bool("idemgen.abandoned", end.Abandoned),
		attribute.Bool("idemgen.background", end.Background),
		attribute.Int("http.response.status_code", end.Status),
	)
	if end.KeyDigest != "" {
		span.SetAttributes(attribute.String("idemgen.key_digest", end.KeyDigest))
	}
	if end.Code != "" {
		span.SetAttributes(attribute.String("idemgen.code", end.Code))
	}
	if end.Event == idem.EventServerError {
		span.SetStatus(codes.Error, end.Code)
		span.SetAttributes(errorType(&end))
	}
}

// OperationRetried implements idem.RetryObserver.
func (o *Observer) OperationRetried(ctx context.Context, retry idem.OperationRetry) {
	o.count(ctx, &retry)
	attributes := []attribute.KeyValue{
		attribute.String("idemgen.retry.reason", string(retry.Reason)),
		attribute.Int("idemgen.retry.attempt", retry.Attempt),
	}
	if retry.SQLState != "" {
		attributes = append(attributes, attribute.String("db.response.status_code", retry.SQLState))
	}
	spanOf(ctx).AddEvent("retry", trace.WithAttributes(attributes...))
}

// KeysSwept implements idem.SweepObserver.
func (o *Observer) KeysSwept(ctx context.Context, end idem.SweepEnd) { o.sweep(ctx, &end) }
