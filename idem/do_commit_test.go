package idem

import (
	"context"
	"errors"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
)

// Pitfall 4: a handler that ends the transaction and begins another one in the
// same breath leaves an open transaction, but it is not ours: no record is
// written there, and the answer does not say that it worked.
func TestPitfall_4_AnotherTransactionIsNotOurs(t *testing.T) {
	t.Parallel()
	s := &shop{pool: idemtest.Pool(t, shopTables)}
	for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable} {
		for _, end := range []string{"COMMIT AND CHAIN", "COMMIT; BEGIN", "ROLLBACK AND CHAIN", "ROLLBACK; BEGIN", "COMMIT; BEGIN; UPDATE accounts SET balance = 0"} {
			s.exec(t, "TRUNCATE idem.keys; UPDATE accounts SET balance = 100")
			request := doRequest("k", "")
			request.Policy.Isolation = level
			_, meta, err := Do(t.Context(), s.pool, request, func(ctx context.Context, tx Tx) (Response, error) {
				_, err := tx.Exec(ctx, end)
				return Response{Status: 200}, err
			})
			if CodeOf(err) != "internal" || meta.Status != 500 {
				t.Errorf("%q, %s: %+v %v", level, end, meta, err)
			}
			if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE status <> 0"); n != 0 {
				t.Errorf("%q, %s: %d records", level, end, n)
			}
			if n := s.count(t, "SELECT count(*) FROM accounts WHERE balance = 100"); n != 2 {
				t.Errorf("%q, %s: the second transaction was committed", level, end)
			}
			s.awaitNothingHeld(t)
		}
	}
}

// Pitfall 4: the handle has no way to end the transaction, or to the connection,
// also for who asks it what else it can do.
func TestPitfall_4_TheHandleIsNarrow(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	_, _, err := Do(t.Context(), pool, doRequest("k", ""), func(ctx context.Context, tx Tx) (Response, error) {
		for name, can := range map[string]func() bool{
			"Begin": func() bool {
				_, ok := tx.(interface {
					Begin(context.Context) (pgx.Tx, error)
				})
				return ok
			},
			"BeginTx": func() bool {
				_, ok := tx.(interface {
					BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
				})
				return ok
			},
			"Commit":   func() bool { _, ok := tx.(interface{ Commit(context.Context) error }); return ok },
			"Rollback": func() bool { _, ok := tx.(interface{ Rollback(context.Context) error }); return ok },
			"Close":    func() bool { _, ok := tx.(interface{ Close(context.Context) error }); return ok },
			"Conn":     func() bool { _, ok := tx.(interface{ Conn() *pgx.Conn }); return ok },
			"Release":  func() bool { _, ok := tx.(interface{ Release() }); return ok },
		} {
			if can() {
				t.Errorf("the handle has %s", name)
			}
		}
		_, isTx := tx.(pgx.Tx)
		_, isConn := tx.(*pgx.Conn)
		if isTx || isConn {
			return Response{}, errors.New("the handle is the transaction itself")
		}
		return Response{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}
