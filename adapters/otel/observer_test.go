package idemotel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// rig is an Observer whose spans and metrics are kept.
type rig struct {
	*Observer
	spans  *tracetest.SpanRecorder
	tracer trace.Tracer
	reader *sdkmetric.ManualReader
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.tracer = tracers.Tracer("test")
	o, err := New(Options{Tracers: tracers, Meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))})
	if err != nil {
		t.Fatal(err)
	}
	r.Observer = o
	return r
}

// attributes are those of the n-th span that ended, by name.
func (r *rig) attributes(t *testing.T, n int) (sdktrace.ReadOnlySpan, map[string]string) {
	t.Helper()
	ended := r.spans.Ended()
	if len(ended) <= n {
		t.Fatalf("%d spans, there is no %d", len(ended), n)
	}
	return ended[n], texts(ended[n].Attributes())
}

func texts(attributes []attribute.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		all[string(a.Key)] = fmt.Sprint(a.Value.AsInterface())
	}
	return all
}

// metric gives the value, or the count, of each set of attributes of a metric.
func (r *rig) metric(t *testing.T, name string) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					values[p.Attributes.Encoded(attribute.DefaultEncoder())] = float64(p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					values[p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					values[p.Attributes.Encoded(attribute.DefaultEncoder())] = float64(p.Count)
				}
			default:
				t.Fatalf("%s is a %T", name, data)
			}
		}
	}
	return values
}

// signal tells when something has been observed.
type signal struct{ ended, swept chan struct{} }

func (s signal) OperationEnded(context.Context, idem.OperationEnd) { s.ended <- struct{}{} }
func (s signal) KeysSwept(context.Context, idem.SweepEnd)          { s.swept <- struct{}{} }

func newSignal() signal { return signal{make(chan struct{}, 9), make(chan struct{}, 9)} }

func redeem(t *testing.T, pool *pgxpool.Pool, o idem.Observer, key string, handler func(context.Context, idem.Tx) (idem.Response, error)) {
	t.Helper()
	_, _, err := idem.Do(t.Context(), pool, idem.Request{Scope: "s", Operation: "Redeem", Key: key, Observer: o}, handler)
	if err != nil && idem.CodeOf(err) == "" {
		t.Fatal(err)
	}
}

func fine(context.Context, idem.Tx) (idem.Response, error) { return idem.Response{Status: 201}, nil }

func refused(context.Context, idem.Tx) (idem.Response, error) {
	return idem.Response{}, idem.Fail(409, "gone", "Gone")
}

func broken(context.Context, idem.Tx) (idem.Response, error) {
	return idem.Response{}, errors.New("secret-detail")
}

// The status is an error for faults of the service alone.
func TestSpansOfRequests(t *testing.T) {
	r, pool := newRig(t), idemtest.Pool(t)
	for i, c := range []struct {
		key     string
		handler func(context.Context, idem.Tx) (idem.Response, error)
		status  codes.Code
		want    map[string]string
	}{
		{"secret-1", fine, codes.Unset, map[string]string{"idemgen.event": "new", "http.response.status_code": "201"}},
		{"secret-1", fine, codes.Unset, map[string]string{"idemgen.event": "duplicate", "http.response.status_code": "201"}},
		{"secret-2", refused, codes.Unset, map[string]string{"idemgen.event": "client_error", "http.response.status_code": "409", "idemgen.code": "gone", "error.type": ""}},
		{"secret-3", broken, codes.Error, map[string]string{"idemgen.event": "server_error", "http.response.status_code": "500", "error.type": "internal"}},
	} {
		redeem(t, pool, r.Observer, c.key, c.handler)
		span, got := r.attributes(t, i)
		if span.Name() != "Redeem" || span.Status().Code != c.status || span.SpanKind() != trace.SpanKindInternal {
			t.Errorf("%s: %s %+v", c.key, span.Name(), span.Status())
		}
		c.want["idemgen.strategy"], c.want["idemgen.operation"], c.want["idemgen.attempts"], c.want["idemgen.abandoned"] = "stepped", "Redeem", "1", "false"
		for name, value := range c.want {
			if got[name] != value {
				t.Errorf("%s: %s is %q, want %q", c.key, name, got[name], value)
			}
		}
		for name, value := range got {
			if strings.Contains(value, "secret") {
				t.Errorf("%s is %q", name, value)
			}
		}
		if len(got["idemgen.key_digest"]) != 8 {
			t.Errorf("key_digest %q", got["idemgen.key_digest"])
		}
	}
	counts := r.metric(t, "idemgen.operation.duration")
	if n := counts["error.type=internal,http.response.status_code=500,idemgen.event=server_error,idemgen.operation=Redeem,idemgen.service="]; n != 1 || len(counts) != 4 {
		t.Errorf("%v", counts)
	}
}

// An attempt that is tried again is an event of the span.
func TestRetriesAreSpanEvents(t *testing.T) {
	r, pool := newRig(t), idemtest.Pool(t)
	tries := 0
	redeem(t, pool, r.Observer, "k", func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
		if tries++; tries == 1 {
			_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")
			return idem.Response{}, err
		}
		return idem.Response{}, nil
	})
	span, got := r.attributes(t, 0)
	if len(span.Events()) != 1 || span.Events()[0].Name != "retry" || got["idemgen.attempts"] != "2" {
		t.Fatalf("%+v %v", span.Events(), got)
	}
	event := texts(span.Events()[0].Attributes)
	if event["idemgen.retry.reason"] != "deadlock" || event["db.response.status_code"] != "40P01" || event["idemgen.retry.attempt"] != "1" {
		t.Errorf("%v", event)
	}
	if n := r.metric(t, "idemgen.operation.retries")["idemgen.operation=Redeem,idemgen.retry.reason=deadlock,idemgen.service="]; n != 1 {
		t.Errorf("%v retries", n)
	}
}

// statements begins a span per statement, as tracers of pgx do.
type statements struct{ tracer trace.Tracer }

func (s statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, _ = s.tracer.Start(ctx, "statement")
	return ctx
}

func (statements) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	trace.SpanFromContext(ctx).End()
}

// Spans nest: the server's holds the operation's, which holds those of the pool.
func TestSpansNest(t *testing.T) {
	r := newRig(t)
	pool := idemtest.Open(t, idemtest.URL(t), func(config *pgxpool.Config) { config.ConnConfig.Tracer = statements{r.tracer} })
	get := &idem.Operation{
		Name: "GetThing", Method: http.MethodGet, Path: "/things/{id}", Status: 200, Strategy: idem.Direct, Policy: idem.Policy{Timeout: 1e9},
		SQL:   "-- statement: unkeyed\nSELECT false, 200::smallint, NULL::text, '{}'::text, NULL::bytea",
		Steps: []idem.Step{{Name: "GetThing"}},
	}
	svc, err := idem.New(pool, idem.Config{Service: "shop", Profile: idem.ProfileIETF, Operations: []*idem.Operation{get}, Scope: -1},
		func(*http.Request) ([]any, error) { return nil, nil }, idem.Options{Observer: r.Observer})
	if err != nil {
		t.Fatal(err)
	}
	ctx, server := r.tracer.Start(t.Context(), "GET /things/{id}")
	w := httptest.NewRecorder()
	svc.Handler("GetThing").ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/things/17", nil))
	server.End()
	if w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	var operation sdktrace.ReadOnlySpan
	within := map[trace.SpanID]int{}
	for _, span := range r.spans.Ended() {
		within[span.Parent().SpanID()]++
		if span.Name() == "GetThing" {
			operation = span
		}
	}
	if operation == nil || operation.Parent().SpanID() != server.SpanContext().SpanID() {
		t.Fatal("the operation's span is not in the server's")
	}
	if within[operation.SpanContext().SpanID()] == 0 {
		t.Error("no statement is in the operation's span")
	}
	got := texts(operation.Attributes())
	if got["http.route"] != "/things/{id}" || got["http.request.method"] != "GET" || got["idemgen.service"] != "shop" || got["idemgen.event"] != "new" {
		t.Errorf("%v", got)
	}
}

// An event that an operation writes has the trace of its span.
func TestEventsKeepTheSpan(t *testing.T) {
	r, pool := newRig(t), idemtest.Pool(t)
	redeem(t, pool, r.Observer, "k", func(ctx context.Context, _ idem.Tx) (idem.Response, error) {
		return idem.Response{}, idem.Emit(ctx, idem.OutboxEvent{Topic: "redeemed"})
	})
	var kept string
	if err := pool.QueryRow(t.Context(), "SELECT headers->>'traceparent' FROM idem.outbox").Scan(&kept); err != nil {
		t.Fatal(err)
	}
	span, _ := r.attributes(t, 0)
	if want := "00-" + span.SpanContext().TraceID().String() + "-" + span.SpanContext().SpanID().String() + "-01"; kept != want {
		t.Errorf("%s, want %s", kept, want)
	}
}

func TestAbandonedRequests(t *testing.T) {
	r, seen, pool := newRig(t), newSignal(), idemtest.Pool(t)
	ctx, leave := context.WithCancel(t.Context())
	work := make(chan struct{})
	request := idem.Request{Scope: "s", Operation: "Redeem", Key: "k", Observer: idem.Observers(r.Observer, seen)}
	_, _, err := idem.Do(ctx, pool, request, func(context.Context, idem.Tx) (idem.Response, error) {
		leave()
		<-work
		return idem.Response{}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(work)
	<-seen.ended
	if span, got := r.attributes(t, 0); got["idemgen.abandoned"] != "true" || got["idemgen.event"] != "new" || span.Status().Code != codes.Unset {
		t.Errorf("%v", got)
	}
	if n := r.metric(t, "idemgen.operation.abandoned")["idemgen.operation=Redeem,idemgen.service="]; n != 1 {
		t.Errorf("%v abandoned", n)
	}
}

func TestSweeps(t *testing.T) {
	r, seen := newRig(t), newSignal()
	pool := idemtest.Pool(t, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)
		SELECT 's', decode(lpad(to_hex(i), 32, '0'), 'hex'), 'o', 'k' || i, '', 200, clock_timestamp() - interval '1 hour' FROM generate_series(1, 7) i`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- (&idem.Sweeper{Pool: pool, Observer: idem.Observers(r.Observer, seen).(idem.SweepObserver)}).Run(ctx)
	}()
	<-seen.swept
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	conn := pool.Config().ConnConfig
	database := "idemgen.database=" + conn.Host + "/" + conn.Database
	if n := r.metric(t, "idemgen.sweep.keys"); sum(n) != 7 || len(n) != 1 {
		t.Errorf("%s: %v", database, n)
	}
	r.KeysSwept(t.Context(), idem.SweepEnd{Database: "d", Failed: true})
	if n := r.metric(t, "idemgen.sweep.overdue"); len(n) != 1 {
		t.Errorf("a failed sweep says what is overdue: %v", n)
	}
	if n := r.metric(t, "idemgen.sweeps"); sum(n) != 2 || len(n) != 2 {
		t.Errorf("%v", n)
	}
}

func sum(values map[string]float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}

// Without a tracer the span of others, around it, is not ended or changed.
func TestMetricsAloneLeaveOtherSpansAlone(t *testing.T) {
	r := newRig(t)
	o, err := New(Options{Tracers: tracenoop.NewTracerProvider(), Meters: noop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, server := r.tracer.Start(t.Context(), "server")
	o.OperationEnded(ctx, idem.OperationEnd{Event: idem.EventServerError, Status: 500})
	o.OperationEnded(o.OperationStarted(ctx, idem.OperationStart{}), idem.OperationEnd{Event: idem.EventServerError, Status: 500})
	if len(r.spans.Ended()) != 0 || !server.IsRecording() {
		t.Error("the span of others was ended")
	}
	server.End()
	if span, _ := r.attributes(t, 0); span.Status().Code != codes.Unset {
		t.Error("the span of others was changed")
	}
}
