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
	case row == nil && tries.more(&tries.vanished, maxVanished, RetryVanished):
		return nil
	case row == nil:
		return s.declare(ctx, inv, e)
	case st.Intent.Return && len(row) > 2 && isTrue(row[2]):
		return s.returnExisting(ctx, inv, row)
	}
	e.Existing = row[0]
	return s.declare(ctx, inv, e)
}

// existing reads the row that the intent's constraint protects; nil if there is
// none.
func (s *Service) existing(ctx context.Context, inv *invocation, st *step, f *failure) ([][]byte, error) {
	from := f.from
	from.inv = inv
	var script []statement
	if inv.op.session != nil {
		script = append(script, s.sessionStatement(inv))
	}
	script = append(script, st.existing.with(from.bind(st.Intent.Args)...))
	results, err := inv.pool.sendAside(ctx, script...)
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
	given := s.record(ctx, inv, ans, inv.op.Policy.Success)
	if given == ans { // no record or failure in its place
		ans.replayed, ans.event = true, EventConflict
	}
	return given
}
