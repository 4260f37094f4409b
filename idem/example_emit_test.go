package idem_test

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// closed is what others are told of an account.
type closed struct {
	Account string `json:"account"`
}

// A handler that tells others what it did: the event is there if, and only if,
// its writes are.
func ExampleEmit() {
	t := &exampleTB{}
	defer t.done()
	ctx, pool := context.Background(), idemtest.Pool(t, "CREATE TABLE accounts (id text PRIMARY KEY, open boolean); INSERT INTO accounts VALUES ('a1', true)")
	account := "a1"
	request := idem.Request{Scope: "acme", Operation: "bank.CloseAccount", Key: "close-a1"}
	for range 2 {
		_, meta, err := idem.Do(ctx, pool, request, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
			if _, err := tx.Exec(ctx, "UPDATE accounts SET open = false WHERE id = $1", account); err != nil {
				return idem.Response{}, err
			}
			err := idem.Emit(ctx, idem.OutboxEvent{
				Topic: "account.closed", OrderKey: account, Payload: closed{Account: account},
			})
			return idem.Response{}, err
		})
		fmt.Println(meta.Status, meta.Replayed, err)
	}
	var events int
	var payload string
	err := pool.QueryRow(ctx, "SELECT count(*), min(payload::text) FROM idem.outbox").Scan(&events, &payload)
	fmt.Println(events, payload, err)
	// Output:
	// 200 false <nil>
	// 200 true <nil>
	// 1 {"account":"a1"} <nil>
}
