package idemtest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// exampleTB lets an example use what wants a test.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (e *exampleTB) Helper()                   {}
func (e *exampleTB) Cleanup(f func())          { e.cleanups = append(e.cleanups, f) }
func (e *exampleTB) Fatalf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }

func (e *exampleTB) done() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}

// A database for one test, with the runtime's tables and one of the test's own. In a
// test, t is the *testing.T, and the package has
//
//	func TestMain(m *testing.M) { idemtest.Main(m) }
func ExamplePool() {
	t := &exampleTB{}
	defer t.done()
	ctx, pool := context.Background(), idemtest.Pool(t, "CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY, text text)")

	request := idem.Request{Scope: "acme", Operation: "desk.WriteNote", Key: "first"}
	for range 2 {
		_, meta, err := idem.Do(ctx, pool, request, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
			_, err := tx.Exec(ctx, "INSERT INTO notes (text) VALUES ('hello')")
			return idem.Response{Status: http.StatusCreated}, err
		})
		fmt.Println(meta.Status, meta.Replayed, err)
	}
	var notes, keys int
	err := pool.QueryRow(ctx, "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM idem.keys)").Scan(&notes, &keys)
	fmt.Println(notes, keys, err)
	// Output:
	// 201 false <nil>
	// 201 true <nil>
	// 1 1 <nil>
}

// A handler of your own is checked like the emitted ones, whose conformance_test.go has
// this for every operation.
func ExampleConformance() {
	checkNotes := func(t *testing.T, service func(*pgxpool.Pool) http.Handler) {
		idemtest.Conformance(t, idemtest.Kit{
			URL:     idemtest.URL(t, "CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY, tenant text, text text)"),
			Handler: func(_ testing.TB, pool *pgxpool.Pool) http.Handler { return service(pool) },
			Operations: []idemtest.Operation{{
				Name: "WriteNote", Method: "POST", Path: "/v1/notes", Body: `{"text": "hello"}`,
				Inputs: []idemtest.Input{{Name: "body.text", Other: `"good bye"`}},
				Writes: []string{"public.notes"},
			}},
			Sweep: func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
				_, err := (&idem.Sweeper{Pool: pool, Batch: batch}).Sweep(ctx)
				return err
			},
		})
	}
	_ = checkNotes // func TestNotes(t *testing.T) { checkNotes(t, newService) }
}
