package idem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// partitioned are payments whose constraints have names of the partition's own.
const partitioned = `ALTER TABLE payments RENAME TO plain; ALTER TABLE plain RENAME CONSTRAINT payments_order TO plain_order;
	CREATE TABLE payments (id bigint GENERATED ALWAYS AS IDENTITY, tenant_id text NOT NULL, order_id text NOT NULL, amount bigint NOT NULL,
		note text, status text NOT NULL DEFAULT 'authorized', CONSTRAINT payments_order UNIQUE (tenant_id, order_id)) PARTITION BY HASH (tenant_id);
	CREATE TABLE payments_0 PARTITION OF payments FOR VALUES WITH (MODULUS 1, REMAINDER 0)`

// The look-up of the partition's root is like any other: a statement that the
// server does not know is sent anew, and a failure is no fault of the service.
func TestTheLookUpOfAPartitionedTable(t *testing.T) {
	t.Parallel()
	op := createPayment("Create", patience, true)
	op.Policy.ServerError = time.Hour
	var cutter idemtest.Cutter
	gate := func() error { return nil }
	url := idemtest.URL(t, shopTables, partitioned)
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) {
		cutter.Watch(c)
		c.MaxConns = 1
		c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) { return true, gate() }
	})
	s := openShop(t, pool, op)
	wantStatus(t, s.post("Create", "a", order1), 201)
	wantCode(t, s.post("Create", "b", order1), 409, "intent-conflict") // the look-up is prepared now
	s.exec(t, "DEALLOCATE "+partitionRoot.name)
	wantCode(t, s.post("Create", "c", order1), 409, "intent-conflict")
	cutter.Arm(idemtest.CutBefore, partitionRoot.name)
	wantCode(t, s.post("Create", "d", order1), 409, "intent-conflict")
	if !cutter.Disarm() {
		t.Error("nothing was cut")
	}
	op.Policy.ServerError = 0 // a record could not be written either
	taken := 0
	gate = func() error {
		if taken++; taken > 1 { // the first one met the constraint
			return errors.New("not now")
		}
		return nil
	}
	wantCode(t, s.post("Create", "e", order1), 503, "unavailable")
}

// probeless are connections that break at the first question.
type probeless struct{ net.Conn }

func (c probeless) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("checks_client")) {
		_ = c.Close()
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

// A connection lost before the request's own SQL is sent is another try, then 503:
// also for what must not run twice.
func TestAConnectionLostAheadOfTheRequest(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, shopTables)
	for _, at := range []idemtest.CutPoint{idemtest.CutBefore, idemtest.CutAnswer} {
		for i, text := range []string{"checks_client", "INSERT INTO payments"} { // when it is prepared
			var cutter idemtest.Cutter
			s := openShop(t, idemtest.Open(t, url, cutter.Watch), createPayment("Create", patience, false))
			cutter.Arm(at, text)
			wantStatus(t, s.post("Create", "", fmt.Sprintf(`{"order_id": "o%d-%d", "amount": 5}`, at, i)), 201)
			if !cutter.Disarm() {
				t.Error("nothing was cut")
			}
		}
	}
	var cutter idemtest.Cutter
	s := openShop(t, idemtest.Open(t, url, cutter.Watch), transfer("Transfer", ReadCommitted))
	cutter.Arm(idemtest.CutAnswer, "SET CONSTRAINTS ALL IMMEDIATE")
	wantStatus(t, s.post("Transfer", "", `{"from": 1, "to": 2, "amount": 1}`, keyHeader, "k"), 201)
	never := idemtest.Open(t, url, func(c *pgxpool.Config) {
		c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			return probeless{conn}, nil
		}
	})
	wantCode(t, openShop(t, never, createPayment("Create", patience, true)).post("Create", "k", order1), 503, "unavailable")
}

// A redirect to the row that is there is a replay like any other.
func TestAReturnedRowOfARedirectIsAReplay(t *testing.T) {
	t.Parallel()
	op := createPayment("Create", patience, true)
	op.Status, op.Steps[0].Intent.Return = 303, true
	op.SQL = strings.Replace(op.SQL, "(201)::smallint", "(303)::smallint", 1)
	guard := &replayGuard{}
	s := openWith(t, nil, Options{AuthorizeReplay: guard.ask}, op)
	w := s.post("Create", "a", order1)
	if wantStatus(t, w, 303); replayed(w) || guard.calls() != 0 {
		t.Errorf("first: %v", w.Header())
	}
	w = s.post("Create", "b", order1)
	if wantStatus(t, w, 303); !replayed(w) || guard.calls() != 1 {
		t.Errorf("%v, asked %d times", w.Header(), guard.calls())
	}
	meta, err := s.Call(t.Context(), "Create", []any{"t1"}, "c", []any{"o1", int64(5), nil}, nil)
	if err != nil || !meta.Replayed {
		t.Errorf("from Go: %+v %v", meta, err)
	}
	guard.err = Fail(403, "mine", "")
	wantCode(t, s.post("Create", "d", order1), 403, "mine")
}

// What is said about another try is true of the record, and the same in body and
// header.
func TestAFaultThatIsNotRecordedMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	op := forceable(charge())
	op.Policy.ServerError = time.Hour
	s := openWith(t, nil, Options{Problem: func(e *Error) (string, []byte) {
		return ownType, fmt.Appendf(nil, "retry='%t'", e.Retryable())
	}}, op)
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	s.exec(t, "ALTER TABLE accounts RENAME COLUMN balance TO balances")
	w := s.force("Charge", "k", `{"amount": 1}`)
	if wantStatus(t, w, 500); w.Body.String() != "retry='true'" || w.Header().Get(shouldRetryHeader) != "" {
		t.Errorf("forced: %s, %v", w.Body, w.Header())
	}
	for range 2 {
		w := s.post("Charge", "k2", `{"amount": 1}`)
		if wantStatus(t, w, 500); w.Body.String() != "retry='false'" || w.Header().Get(shouldRetryHeader) != "false" {
			t.Errorf("plain: %s, %v", w.Body, w.Header())
		}
	}
}

// An argument that the operation does not take is not looked at.
func TestTheKeyArgumentThatIsNotTaken(t *testing.T) {
	t.Parallel()
	for _, from := range []Key{{From: KeyNone}, {From: KeySource, Arg: Arg{From: ArgField, Field: 0}}} {
		op := createPayment("Create", patience, false)
		op.Key = from
		s := newShop(t, op)
		call := func(amount int64) error {
			_, err := s.Call(t.Context(), "Create", []any{"t1"}, "not a key", []any{"o1", amount, nil}, nil)
			return err
		}
		if err := call(5); err != nil {
			t.Errorf("%+v: %v", from, err)
		}
		if from.From == KeySource {
			if err := call(6); CodeOf(err) != "key-reused" {
				t.Errorf("%v", err)
			}
		}
		inv, refused := s.called(s.operations["Create"], []any{"t1"}, "a-key", []any{"o1", int64(5), nil})
		if refused != nil || inv.client != "" {
			t.Errorf("the argument is taken for the client's key: %v", refused)
		}
	}
}

// A fault that a call from Go meets early is logged as one of a request.
func TestAFaultOfPoolIsLoggedForCalls(t *testing.T) {
	t.Parallel()
	var logged logLines
	pool := idemtest.Pool(t, shopTables)
	s := openWith(t, &shop{pool: pool}, Options{Logger: logged.logger(), Pools: []*pgxpool.Pool{pool}, Pool: func(string) *pgxpool.Pool { return nil }}, charge())
	_, err := s.Call(t.Context(), "Charge", []any{"t1"}, "k", []any{int64(1), int64(1)}, nil)
	if CodeOf(err) != "internal" || !strings.Contains(logged.take(), "gives no pool") {
		t.Errorf("%v", err)
	}
}

// A client that leaves while its replay is authorized was refused nothing.
func TestAClientThatLeavesIsNotRefused(t *testing.T) {
	t.Parallel()
	var logged logLines
	seen := newWitness()
	ctx, leave := context.WithCancel(t.Context())
	s := openWith(t, nil, Options{Logger: logged.logger(), Observer: seen, AuthorizeReplay: func(ctx context.Context, _ Name, _ []any) error {
		leave()
		<-ctx.Done()
		return fmt.Errorf("roles: %w", ctx.Err())
	}}, charge())
	in := []any{int64(1), int64(1)}
	if _, err := s.Call(ctx, "Charge", []any{"t1"}, "k", in, nil); err != nil {
		t.Fatal(err)
	}
	seen.take(t)
	if _, err := s.Call(ctx, "Charge", []any{"t1"}, "k", in, nil); err == nil {
		t.Error("it was answered")
	}
	if end, _ := seen.take(t); end.Event != EventDuplicate || !end.Abandoned || end.Status != 503 {
		t.Errorf("%+v", end)
	}
	if text := logged.take(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Error(text)
	}
}
