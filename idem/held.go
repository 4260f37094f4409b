package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/idemgen/idemgen/gen"
	"github.com/jackc/pgx/v5/pgxpool"
)

// HeldWork is an operation that waits for an operator's word.
type HeldWork struct {
	Scope     string
	Operation string // service.Operation
	Key       string
	EventID   string // of an async operation
	Step      int    // index of the step at which it stands
	Attempt   int    // how often it was begun or continued
	Undoing   bool   // what can't be done is to take a call back
	Reason    string // has no value of the request
	CreatedAt time.Time
}

// ErrNotHeld is returned where there is no held operation with this identity.
var ErrNotHeld = errors.New("idem: no operation with this scope, operation and key is held")

// ListHeld lists held operations, the oldest first, at most so many.
func ListHeld(ctx context.Context, pool *pgxpool.Pool, most int) ([]HeldWork, error) {
	rows, err := queries(pool).ListHeld(ctx, int32(min(most, 1<<30)))
	if err != nil {
		return nil, fmt.Errorf("idem: %w", err)
	}
	held := make([]HeldWork, len(rows))
	for i, row := range rows {
		held[i] = HeldWork{
			Scope: row.Scope, Operation: row.Operation, Key: row.Key, Step: int(row.Step), Attempt: int(row.Attempt),
			Undoing: row.Undoing, Reason: row.Reason, CreatedAt: row.CreatedAt.Time,
		}
		if row.EventID.Valid {
			held[i].EventID = row.EventID.String()
		}
	}
	return held, nil
}

// RetryHeld lets a held operation go on where it stands: the call is made again,
// with the same key. Operation is service.Operation, key as HeldWork.Key has it.
func RetryHeld(ctx context.Context, pool *pgxpool.Pool, scope, operation, key string) error {
	n, err := queries(pool).RetryHeld(ctx, gen.RetryHeldParams{Scope: scope, Digest: digestOf(operation, key)})
	return released(n, err)
}

// RefuseHeld ends a held operation with a client error, which repetitions get: the
// step at which it stands was not done, and will not be. A completer takes back
// the calls before it, those that have an undo; where it is held for an undo that
// can't be done, that one and those before it are given up. The answer has status
// 409 and code given-up.
func RefuseHeld(ctx context.Context, pool *pgxpool.Pool, scope, operation, key string) error {
	n, err := queries(pool).RefuseHeld(ctx, gen.RefuseHeldParams{Scope: scope, Digest: digestOf(operation, key)})
	return released(n, err)
}

// errGivenUp is the refusal of an operator.
func errGivenUp() *Error {
	return &Error{Status: http.StatusConflict, Code: "given-up", Title: "Given up",
		Detail: "An operator has ended the request: it was not done."}
}

func released(n int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("idem: %w", err)
	case n == 0:
		return ErrNotHeld
	}
	return nil
}
