package idem

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// overcome answers a failure, or gives nil: try again. Before any client error
// the own key is looked up, since a twin may have changed what this attempt saw:
// the answer is what the table says.
func (s *Service) overcome(ctx context.Context, inv *invocation, f *failure, tries *tries) *answer {
	if f.declared != nil {
		return s.declare(ctx, inv, f.declared)
	}
	if errors.Is(f.err, errNoAnswer) {
		return s.refuse(inv, errInFlight())
	}
	if time.Now().After(inv.deadline) {
		return s.lookUpOr(ctx, inv, errUnavailable(f.err))
	}
	var pg *pgconn.PgError
	if errors.As(f.err, &pg) && !isUnsent(f.err) { // a refused login says nothing about the request
		return s.overcomeServer(ctx, inv, f, pg, tries)
	}
	return s.overcomeClient(ctx, inv, f, tries)
}

// serializations are the SQLSTATEs of transactions that could not run side by
// side, and may one after the other.
var serializations = map[string]RetryReason{"40001": RetrySerialization, "40P01": RetryDeadlock}

// overcomeServer handles what PostgreSQL reported: the attempt is undone.
func (s *Service) overcomeServer(ctx context.Context, inv *invocation, f *failure, pg *pgconn.PgError, tries *tries) *answer {
	switch {
	case pg.Code == "IDM01" && pg.ConstraintName == reusedRule:
		return s.reused(ctx, inv, tries)
	case isConflictOnKeys(pg):
		if isConflictOnEvents(pg) {
			inv.renewEvents()
		}
		if ans, err := s.find(ctx, inv); err != nil {
			return s.refuse(inv, errUnavailable(err))
		} else if ans != nil {
			return s.judge(inv, ans)
		}
		if tries.more(&tries.vanished, maxVanished, RetryVanished) {
			return nil
		}
		return s.refuse(inv, errInFlight())
	case serializations[pg.Code] != "":
		if tries.more(&tries.serialization, inv.maxSerialization(), serializations[pg.Code]) {
			time.Sleep(backoff(tries.serialization))
			return nil
		}
		return s.lookUpOr(ctx, inv, errUnavailable(f.err))
	case isStale(f.err):
		if tries.more(&tries.fresh, maxFresh, RetryStaleStatement) {
			return nil
		}
		return s.breakdown(ctx, inv, f.err)
	case f.claiming:
		return s.lookUpOr(ctx, inv, errInFlight())
	case isOutage(pg.Code):
		return s.lookUpOr(ctx, inv, errUnavailable(f.err))
	}
	return s.overcomeRule(ctx, inv, f, pg, tries)
}

// overcomeClient handles a failure on this side of the connection.
func (s *Service) overcomeClient(ctx context.Context, inv *invocation, f *failure, tries *tries) *answer {
	declared, wrong := ownError(f.err)
	switch {
	case wrong != nil:
		return s.fault(ctx, inv, wrong)
	case declared != nil && isDefinite(declared.Status) && declared.retryAfter == 0:
		return s.declare(ctx, inv, declared)
	case declared != nil:
		return s.refuse(inv, declared)
	case isUnsent(f.err):
		if tries.more(&tries.unsent, maxUnsent, RetryUnsent) {
			return nil
		}
		return s.refuse(inv, errUnavailable(f.err))
	case !f.lost:
		return s.fault(ctx, inv, f.err)
	case inv.forced, !inv.keyed() && !isIdempotentMethod(inv.op.Method):
		return s.refuse(inv, errUnavailable(f.err)) // it may have happened
	}
	ans, err := s.find(ctx, inv)
	switch {
	case err != nil:
		return s.refuse(inv, errUnavailable(err))
	case ans != nil:
		return s.judge(inv, ans)
	case tries.more(&tries.lost, maxLost, RetryLostConnection):
		return nil
	}
	return s.refuse(inv, errUnavailable(f.err))
}

// lookUpOr is the record of the own key, or else the error, which is not stored.
func (s *Service) lookUpOr(ctx context.Context, inv *invocation, e *Error) *answer {
	ans, err := s.find(ctx, inv)
	switch {
	case err != nil:
		return s.refuse(inv, errUnavailable(err))
	case ans != nil:
		return s.judge(inv, ans)
	}
	return s.refuse(inv, e)
}

// isDefinite: a client error that the same request would meet again.
func isDefinite(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// isIdempotentMethod: RFC 9110 section 9.2.2.
func isIdempotentMethod(method string) bool {
	return isSafeMethod(method) || method == http.MethodPut || method == http.MethodDelete
}

// isSafeMethod: RFC 9110 section 9.2.1.
func isSafeMethod(method string) bool { return method == http.MethodGet || method == http.MethodHead }
