package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// GoStep is a step that a Go function of the service runs, inside the
// transaction of its operation.
type GoStep struct {
	Func string // its name in Options.Go
	// In are the values that the function takes, and Step.Args where each comes
	// from.
	In []Field
	// Out are the values that it returns: what later steps bind (ArgStep) and what
	// the answer shows, both by their index.
	Out []GoResult
	// BigintString: a bigint is a string in the answer (`json: {bigint: string}`).
	BigintString bool
}

// GoFunc runs the function of a Go step; emitted code makes one around each
// function of Options.Go. Scan fills pointers to Go values, one per
// GoStep.In; what is returned are the values of GoStep.Out.
type GoFunc func(ctx context.Context, tx Tx, scan func(into ...any) error) ([]any, error)

type txKey struct{}

// TxFrom is the transaction of the Go step that ctx was given to, for plain pgx.
// It is for the function's own goroutine, and must not be used after the function
// has returned. It panics where ctx is that of no Go step.
func TxFrom(ctx context.Context) Tx {
	tx, ok := ctx.Value(txKey{}).(Tx)
	if !ok {
		panic("idem: TxFrom is called with a context that no Go step was given")
	}
	return tx
}

// goStep runs the function of step i: no round trip but its own.
func (r *stepRun) goStep(ctx context.Context, i int) *failure {
	st := &r.inv.op.steps[i]
	results, err := r.call(ctx, st)
	if err == nil {
		err = r.afterCall(st)
	}
	if err != nil {
		return &failure{err: err, step: i, from: binding{inv: r.inv, steps: r.allTexts()}}
	}
	values, err := st.Go.values(results)
	if err != nil {
		return &failure{err: fmt.Errorf("idem: the Go function %s: %w", st.Go.Func, err), step: i}
	}
	r.texts = append(r.texts, textsOf(values))
	r.results = append(r.results, stepResult{rows: []stepRow{st.Go.row(values)}})
	return nil
}

// call runs the function until the operation's timeout. A panic of it is an
// error like any other: the transaction is rolled back, not the connection lost.
func (r *stepRun) call(ctx context.Context, st *step) (results []any, err error) {
	ctx, cancel := context.WithDeadline(ctx, r.inv.deadline)
	defer cancel()
	lease := r.c.lease("the function of step "+st.Name, r.inv.pool, cancel)
	defer lease.end()
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	from := binding{inv: r.inv, steps: r.texts}
	scan := func(into ...any) error { return from.scanArgs(st, into) }
	ctx = withEmitter(context.WithValue(ctx, txKey{}, Tx(lease)), r.inv, lease, st.Name)
	if results, err = st.run(ctx, lease, scan); err == nil {
		err = lease.giveBack(r.c)
	}
	return results, st.answered(err)
}

// answered completes a client error that the function returned by what its spec
// declares for the code.
func (st *step) answered(err error) error {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	if refusal.Status < http.StatusBadRequest || refusal.Status > 599 {
		return fmt.Errorf("idem: the Go function %s failed with status %d, which is none of a refusal: %s", st.function(), refusal.Status, refusal.Code)
	}
	for _, rule := range st.Errors {
		if rule.Problem.Code == refusal.Code && rule.Problem.Status == refusal.Status && refusal.Title == "" {
			titled := *refusal
			titled.Title = rule.Problem.Title
			return &titled
		}
	}
	return err
}

// afterCall looks at what the function left behind.
func (r *stepRun) afterCall(st *step) error {
	if r.c.isClosed() {
		return fmt.Errorf("idem: the Go function %s returned, but its connection is gone", st.Go.Func)
	}
	switch r.c.pool.Conn().PgConn().TxStatus() {
	case 'T':
		return nil
	case 'I':
		return fmt.Errorf("idem: the Go function %s ended the transaction, which is not its to end", st.Go.Func)
	}
	return fmt.Errorf("idem: a statement failed in the Go function %s, which returned no error: it must return it", st.Go.Func)
}

// allTexts has room for every step, also for those that have not run.
func (r *stepRun) allTexts() [][][]byte {
	all := make([][][]byte, len(r.inv.op.steps))
	copy(all, r.texts)
	return all
}
