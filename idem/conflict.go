package idem

import (
	"context"
	"encoding/json"
)

// conflict answers a violated business intent: the own key first, then the
// resource that is there, as the answer or beside the refusal. Nil: the resource
// vanished meanwhile, try again.
func (s *Service) conflict(ctx context.Context, inv *invocation, st *step, f *failure, e *Error, tries *tries) *answer {
	e.event = EventConflict
	ans, err := s.find(ctx, inv)
	switch {
	case err != nil:
		return s.refuse(inv, errUnavailable(err))
	case ans != nil:
		return s.judge(inv, ans)
	case st.existing == nil:
		return s.declare(ctx, inv, e)
	}
	row, err := s.existing(ctx, inv, st, f)
	switch {
	case err != nil:
		return s.refuse(inv, errUnavailable(err))
	case row == nil && more(&tries.vanished, maxVanished):
		return nil
	case row == nil:
		return s.declare(ctx, inv, e)
	case st.Intent.Return && len(row) > 2 && isTrue(row[2]):
		return s.returnExisting(ctx, inv, row)
	}
	e.Existing = row[0]
	return s.declare(ctx, inv, e)
}

// existing reads the row that the intent's constraint protects. Nothing is
// changed by it, so that a pooler's stale statements are no reason to give up.
func (s *Service) existing(ctx context.Context, inv *invocation, st *step, f *failure) (row [][]byte, err error) {
	for try := range asideTries {
		row, err = s.readExisting(ctx, inv, st, f, try == 0)
		if !isStale(err) {
			break
		}
	}
	return row, err
}

func (s *Service) readExisting(ctx context.Context, inv *invocation, st *step, f *failure, named bool) ([][]byte, error) {
	c, err := inv.pool.acquire(ctx, named)
	if err != nil {
		return nil, err
	}
	from := f.from
	from.inv = inv
	script := append(s.preamble(c, inv), st.existing.with(from.bind(st.Intent.Args)...))
	results, err := c.send(ctx, script...)
	if isStale(err) {
		c.discard(ctx)
	} else {
		c.release()
	}
	if err != nil {
		return nil, err
	}
	rows := results[len(results)-1].rows
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0], nil
}

// returnExisting answers with the resource that is there, as a success.
func (s *Service) returnExisting(ctx context.Context, inv *invocation, row [][]byte) *answer {
	ans := &answer{status: inv.op.Status, body: row[0]}
	if row[1] != nil {
		if err := json.Unmarshal(row[1], &ans.headers); err != nil {
			return s.fault(ctx, inv, err)
		}
	}
	ans = s.record(ctx, inv, ans, inv.op.Policy.Success)
	if ans.status < 300 {
		ans.replayed, ans.event = true, EventConflict
	}
	return ans
}
