package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
)

// countingService is a service whose round trips to PostgreSQL are counted,
// without the authentication's own.
func countingService(t *testing.T) (*client, *idemtest.Counter) {
	t.Helper()
	pool, counter := idemtest.PoolCounting(t, emptyDatabase)
	if err := migrate(context.Background(), pool.Config().ConnString()); err != nil {
		t.Fatal(err)
	}
	return open(t, pool).as(t, "acme"), counter
}

var promised = regexp.MustCompile(`(?m)^-- Strategy: (\w+)\. Round trips: (\d+)(?: and those of the Go code| to write it down)?(?:, a replay (\d+))?\.$`)

// promise is what the head of an emitted file says.
func promise(t *testing.T, operation string) (strategy string, first, replay int64) {
	t.Helper()
	found := promised.FindStringSubmatch(emittedSQL(t)[snake(operation)+".sql"])
	if found == nil {
		t.Fatalf("%s: the file does not say its strategy and round trips", operation)
	}
	first, _ = strconv.ParseInt(found[2], 10, 64)
	replay, _ = strconv.ParseInt(found[3], 10, 64) // absent: 0
	return found[1], first, replay
}

var wordStart = regexp.MustCompile(`(.)([A-Z])`)

func snake(name string) string {
	return string(toLower(wordStart.ReplaceAll([]byte(name), []byte("${1}_$2"))))
}

func toLower(b []byte) []byte {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// Round trips, counted on the wire: of a new request, of a replay, of a read.
// They are those of the strategy, and those that the emitted file promises.
func TestRoundTrips(t *testing.T) {
	c, counter := countingService(t)
	ctx, caller := t.Context(), c.caller()
	n := 0
	a, b := number(t, c.account(t, 1_000_000)), number(t, c.account(t, 0))
	calls := map[string]func(key string) (replayed bool, err error){
		"CreateAccount": func(key string) (bool, error) {
			_, meta, err := c.api.CreateAccount(ctx, caller, key, api.CreateAccountInput{Owner: "Ada", Currency: "EUR"})
			return meta.Replayed, err
		},
		"CreatePayment": func(key string) (bool, error) {
			_, meta, err := c.api.CreatePayment(ctx, caller, key, api.CreatePaymentInput{OrderID: key, Amount: 1, Currency: "EUR"})
			return meta.Replayed, err
		},
		"PlaceOrder": func(key string) (bool, error) {
			_, meta, err := c.api.PlaceOrder(ctx, caller, key, api.PlaceOrderInput{Reference: key, Items: []api.PlaceOrderInputItems{}})
			return meta.Replayed, err
		},
		"CreateTransfer": func(key string) (bool, error) {
			_, meta, err := c.api.CreateTransfer(ctx, caller, key, api.CreateTransferInput{FromAccount: a, ToAccount: b, Amount: 1})
			return meta.Replayed, err
		},
		"PutCustomer": func(key string) (bool, error) {
			_, meta, err := c.api.PutCustomer(ctx, caller, key, api.PutCustomerInput{ID: "ada", Name: "Ada"})
			return meta.Replayed, err
		},
		"PatchCustomer": func(key string) (bool, error) {
			_, meta, err := c.api.PatchCustomer(ctx, caller, key, api.PatchCustomerInput{ID: "ada"})
			return meta.Replayed, err
		},
		"GetAccount": func(string) (bool, error) {
			_, meta, err := c.api.GetAccount(ctx, caller, "", api.GetAccountInput{ID: a})
			return meta.Replayed, err
		},
		"ListPayments": func(string) (bool, error) {
			_, meta, err := c.api.ListPayments(ctx, caller, "", api.ListPaymentsInput{})
			return meta.Replayed, err
		},
	}
	paid := number(t, c.captured(t, "paid"))
	calls["RefundPayment"] = func(key string) (bool, error) {
		_, meta, err := c.api.RefundPayment(ctx, caller, key, api.RefundPaymentInput{ID: paid, Amount: 1})
		return meta.Replayed, err
	}
	calls["ChargeRide"] = func(key string) (bool, error) {
		_, meta, err := c.api.ChargeRide(ctx, caller, key, api.ChargeRideInput{Card: "tok_visa", Currency: "EUR", Fare: 1, Rider: key})
		return meta.Replayed, err
	}
	calls["CreatePayout"] = func(key string) (bool, error) {
		_, meta, err := c.api.CreatePayout(ctx, caller, key, api.CreatePayoutInput{Account: a, Amount: 1})
		return meta.Replayed, err
	}
	own := map[string]int64{"RefundPayment": 1} // the function's own: an INSERT
	wanted := map[string][2]int64{"fused": {1, 1}, "verbatim": {1, 1}, "direct": {1, 0}}
	order := []string{"CreateAccount", "CreatePayment", "PlaceOrder", "CreateTransfer", "RefundPayment", "ChargeRide", "CreatePayout", "PutCustomer", "PatchCustomer", "GetAccount", "ListPayments"}
	for _, name := range order {
		t.Run(name, func(t *testing.T) {
			strategy, first, replay := promise(t, name)
			first += own[name]
			if want, fixed := wanted[strategy]; fixed && want != [2]int64{first, replay} {
				t.Errorf("%s promises %d and %d round trips", strategy, first, replay)
			}
			counted := func(key string, replayed bool) int64 {
				return counter.Count(func() {
					if got, err := calls[name](key); err != nil || got != replayed {
						t.Fatalf("replayed %v: %v", got, err)
					}
				})
			}
			counted("warm-"+name, false) // prepares the statements
			for range 3 {
				n++
				key := fmt.Sprint(name, n)
				if got := counted(key, false); got != first {
					t.Errorf("new: %d round trips, promised %d", got, first)
				}
				if replay == 0 {
					continue
				}
				if got := counted(key, true); got != replay {
					t.Errorf("replay: %d round trips, promised %d", got, replay)
				}
			}
		})
	}
}

// Over HTTP it is the same, and one more for the service's authentication.
func TestRoundTripsOverHTTP(t *testing.T) {
	c, counter := countingService(t)
	c.payment(t, "warm-1")
	c.payment(t, "warm-2")
	c.get(t, "/v1/payments/1").must(t, 200)
	for name, send := range map[string]func(){
		"new":    func() { c.post(t, "/v1/payments", "k", paymentBody("order-1")).must(t, 201) },
		"replay": func() { c.post(t, "/v1/payments", "warm", paymentBody("order-2")).must(t, 201) },
		"read":   func() { c.get(t, "/v1/payments/1").must(t, 200) },
		"refusal": func() {
			c.post(t, "/v1/payments", "k2", `{"order_id": "o", "amount": 0, "currency": "EUR"}`).refused(t, 422, "amount_not_positive")
		},
	} {
		if name == "replay" || name == "refusal" {
			send() // the record to replay; the statement that looks for one
		}
		// A refusal looks for an older record of its key.
		if n := counter.Count(send) - 1; n != 1 {
			t.Errorf("%s: %d round trips", name, n)
		}
	}
}

// A stepped operation costs what the same transaction costs by hand, on the
// same pool, pipelined as well as its steps allow; and less than the way that
// most write it.
func TestSteppedCostsWhatTheTransactionCosts(t *testing.T) {
	c, counter := countingService(t)
	ctx := t.Context()
	a, b := number(t, c.account(t, 1000)), number(t, c.account(t, 0))
	execute(t, c.pool, "CREATE TABLE hand_keys (tenant_id text, key text, body text, PRIMARY KEY (tenant_id, key))")

	call := func(key string) {
		in := api.CreateTransferInput{FromAccount: a, ToAccount: b, Amount: 1}
		if _, meta, err := c.api.CreateTransfer(ctx, c.caller(), key, in); err != nil || meta.Replayed {
			t.Fatalf("replayed %v: %v", meta.Replayed, err)
		}
	}
	hand := handWritten{pool: c.pool, a: a, b: b}
	ways := map[string]func(key string){
		"idemgen":   call,
		"pipelined": func(key string) { hand.run(t, key, hand.pipelined) },
		"usual":     func(key string) { hand.run(t, key, hand.usual) },
	}
	counts := map[string]int64{}
	for name, way := range ways {
		way("warm-1-" + name)
		way("warm-2-" + name)
		counts[name] = counter.Count(func() { way("counted-" + name) })
	}
	if counts["idemgen"] != counts["pipelined"] || counts["pipelined"] >= counts["usual"] {
		t.Errorf("round trips: %v", counts)
	}
	if moved := query[int64](t, c.pool, "SELECT balance FROM accounts WHERE id = $1", b); moved != 9 {
		t.Errorf("%d were moved, not 9", moved)
	}
}

// handWritten is CreateTransfer without idemgen.
type handWritten struct {
	pool *pgxpool.Pool
	a, b int64
}

const (
	handFind   = "SELECT body FROM hand_keys WHERE tenant_id = $1 AND key = $2"
	handRecord = "INSERT INTO hand_keys (tenant_id, key, body) VALUES ($1, $2, $3)"
	tenantID   = "acme"
)

func (h handWritten) run(t *testing.T, key string, way func(context.Context, *pgxpool.Conn, string) error) {
	t.Helper()
	conn, err := h.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := way(t.Context(), conn, key); err != nil {
		t.Fatal(err)
	}
}

// usual is one call after the other.
func (h handWritten) usual(ctx context.Context, conn *pgxpool.Conn, key string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var body string
		if err := tx.QueryRow(ctx, handFind, tenantID, key).Scan(&body); err != pgx.ErrNoRows {
			return fmt.Errorf("the key is used: %v", err)
		}
		body, err := h.steps(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, handRecord, tenantID, key, body)
		return err
	})
}

// pipelined sends BEGIN with the look-up, and the record with COMMIT.
func (h handWritten) pipelined(ctx context.Context, conn *pgxpool.Conn, key string) error {
	opening := &pgx.Batch{}
	opening.Queue("BEGIN")
	opening.Queue(handFind, tenantID, key)
	if err := conn.SendBatch(ctx, opening).Close(); err != nil {
		return err
	}
	body, err := h.steps(ctx, conn)
	if err != nil {
		return err
	}
	closing := &pgx.Batch{}
	closing.Queue(handRecord, tenantID, key, body)
	closing.Queue("COMMIT")
	return conn.SendBatch(ctx, closing).Close()
}

// steps are the statements of endpoints/transfers.yaml, by sqlc's own code.
func (h handWritten) steps(ctx context.Context, tx db.DBTX) (body string, err error) {
	q := db.New(tx)
	if _, err := q.LockAccounts(ctx, db.LockAccountsParams{TenantID: tenantID, FromID: h.a, ToID: h.b}); err != nil {
		return "", err
	}
	if _, err := q.MoveMoney(ctx, db.MoveMoneyParams{TenantID: tenantID, FromID: h.a, ToID: h.b, Amount: 1}); err != nil {
		return "", err
	}
	row, err := q.InsertTransfer(ctx, db.InsertTransferParams{TenantID: tenantID, FromAccount: h.a, ToAccount: h.b, Amount: 1})
	return fmt.Sprint(row.ID), err
}
