package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/idemgen/idemgen/bench/internal/db"
)

// dbosConnections are what DBOS has beyond those of the clients: it listens on one
// and looks after workflows on others.
const dbosConnections = 4

// addDBOS adds a workflow whose id is the key, and whose one step is a transaction
// with the business write in it. Its pool is the system database's, so DBOS records
// the step in the transaction of the write: the strongest and fastest form of it.
func (f *field) addDBOS(ctx context.Context) error {
	pool, err := f.pool(ctx, f.clients+dbosConnections)
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() error { pool.Close(); return nil })
	app, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "bench", ApplicationVersion: "1", SystemDBPool: pool, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	source, err := dbos.NewDataSource(app, pool)
	if err != nil {
		return err
	}
	workflow := dbosWorkflow(source)
	dbos.RegisterWorkflow(app, workflow)
	if err := dbos.Launch(app); err != nil {
		return err
	}
	f.closes = append(f.closes, func() error { return dbos.Shutdown(app, 5*time.Second) })
	f.all = append(f.all, contender{name: dbosCall, keyed: true, base: bareInsert, run: func(_ context.Context, r request) error {
		handle, err := dbos.RunWorkflow(app, workflow, payment{OrderID: r.order, Amount: amount}, dbos.WithWorkflowID(r.key))
		if err != nil {
			return err
		}
		row, err := handle.GetResult()
		if err == nil && row.OrderID != r.order {
			err = errors.New("the result is of another order")
		}
		return err
	}})
	return nil
}

func dbosWorkflow(source *dbos.DataSource) dbos.Workflow[payment, db.CreatePaymentRow] {
	return func(c dbos.Context, in payment) (db.CreatePaymentRow, error) {
		return dbos.RunAsTransaction(c, source, func(ctx context.Context, tx dbos.Tx) (db.CreatePaymentRow, error) {
			var row db.CreatePaymentRow
			err := tx.QueryRow(ctx, `INSERT INTO payments (tenant_id, order_id, amount) VALUES ($1, $2, $3)
				RETURNING id, order_id, amount, status, created_at`, tenant, in.OrderID, in.Amount).
				Scan(&row.ID, &row.OrderID, &row.Amount, &row.Status, &row.CreatedAt)
			return row, err
		})
	}
}
