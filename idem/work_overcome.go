package idem

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// overcome is what comes of a transaction that failed, behind which nothing of it
// is left. Again: it is run once more. Otherwise there is an answer, or nil where
// the work goes on by being taken back, or in another process.
func (w *work) overcome(ctx context.Context, f *failure, tries *tries) (ans *answer, again bool) {
	switch {
	case errors.Is(f.err, errLate):
		return w.lose(), false
	case f.declared != nil:
		return w.refuse(ctx, f.declared), false
	case time.Now().After(w.inv.deadline):
		return w.postpone(ctx, f.err), false
	}
	var pg *pgconn.PgError
	if errors.As(f.err, &pg) && !isUnsent(f.err) {
		return w.overcomeServer(ctx, f, pg, tries)
	}
	return w.overcomeClient(ctx, f, tries)
}

func (w *work) overcomeServer(ctx context.Context, f *failure, pg *pgconn.PgError, tries *tries) (*answer, bool) {
	switch {
	case serializations[pg.Code] != "":
		if tries.more(&tries.serialization, maxSerialization, serializations[pg.Code]) {
			time.Sleep(backoff(tries.serialization))
			return nil, true
		}
		return w.postpone(ctx, f.err), false
	case isConflictOnEvents(pg):
		w.inv.renewEvents()
		if tries.more(&tries.vanished, maxVanished, RetryVanished) {
			return nil, true
		}
		return w.postpone(ctx, f.err), false
	case isStale(f.err):
		if tries.more(&tries.fresh, maxFresh, RetryStaleStatement) {
			return nil, true
		}
		return w.breakdown(ctx, f.err), false
	case isOutage(pg.Code):
		return w.postpone(ctx, f.err), false
	}
	found, err := w.inv.op.ruleOf(ctx, w.inv.pool, f.step, pg)
	switch {
	case err != nil:
		return w.postpone(ctx, err), false
	case found == nil:
		return w.breakdown(ctx, f.err), false
	case found.intent != nil:
		return w.conflict(ctx, found.intent, f, found.err), false
	}
	return w.refuse(ctx, found.err), false
}

func (w *work) overcomeClient(ctx context.Context, f *failure, tries *tries) (*answer, bool) {
	declared, wrong := ownError(f.err)
	switch {
	case wrong != nil:
		return w.breakdown(ctx, wrong), false
	case declared != nil && isDefinite(declared.Status) && declared.retryAfter == 0:
		return w.refuse(ctx, declared), false
	case declared != nil:
		return w.parked(ctx, w.s.refuse(w.inv, declared)), false
	case isUnsent(f.err):
		if tries.more(&tries.unsent, maxUnsent, RetryUnsent) {
			return nil, true
		}
	case !f.lost:
		return w.breakdown(ctx, f.err), false
	case tries.more(&tries.lost, maxLost, RetryLostConnection): // the fence says whether it was committed
		return nil, true
	}
	return w.postpone(ctx, f.err), false
}

// conflict ends the work with the resource that is there already under another
// key. The calls are taken back, also where that resource is the answer.
func (w *work) conflict(ctx context.Context, st *step, f *failure, e *Error) *answer {
	e.event = EventConflict
	if st.existing == nil {
		return w.refuse(ctx, e)
	}
	row, err := w.s.existing(ctx, w.inv, st, f)
	switch {
	case err != nil:
		return w.postpone(ctx, err)
	case row == nil: // it is gone again
		return w.postpone(ctx, f.err)
	case !st.Intent.Return || len(row) < 3 || !isTrue(row[2]):
		e.Existing = row[0]
		return w.refuse(ctx, e)
	}
	ans := &answer{status: w.inv.op.Status, body: row[0], event: EventConflict, headers: map[string]string{}}
	if err := addHeaders(ans.headers, row[1]); err != nil {
		return w.breakdown(ctx, err)
	}
	return w.endWith(ctx, ans)
}
