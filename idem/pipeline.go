package idem

import (
	"context"
	"errors"
	"strconv"
)

// errNoAnswer is a keyed statement without a row: another request is running.
var errNoAnswer = errors.New("idem: the statement gave no answer")

// runFused sends claim, business write, answer and record as one statement.
func (s *Service) runFused(ctx context.Context, c *conn, inv *invocation) (*answer, *failure) {
	script := s.preamble(c, inv)
	script = append(script, inv.op.keyed.with(s.bound(inv).bind(inv.op.steps[0].Args)...))
	for range maxVanished {
		results, err := c.send(ctx, script...)
		if err != nil {
			return nil, &failure{err: err, claiming: isLockTimeout(err)}
		}
		last := results[len(results)-1]
		if !isExpired(last) {
			return s.read(last)
		}
		if _, err := c.send(ctx, append(c.readCommitted(), expireRecord.with(inv.identityParams()...))...); err != nil {
			return nil, &failure{err: err}
		}
	}
	return nil, &failure{err: errNoAnswer, claiming: true}
}

// isExpired reports whether the statement met an expired record: replayed is
// NULL then, and nothing was done.
func isExpired(r result) bool { return len(r.rows) > 0 && r.rows[0][0] == nil }

// runVerbatim pipelines the record, the claim and the user's statement in one
// implicit transaction. A duplicate fails at the claim, when its record has
// arrived already.
func (s *Service) runVerbatim(ctx context.Context, c *conn, inv *invocation) (*answer, *failure) {
	step := &inv.op.steps[0]
	from := s.bound(inv)
	script := s.preamble(c, inv)
	prior := len(script)
	script = append(script,
		inv.op.prior.with(from.bind(step.Prior)...),
		inv.op.claim.with(from.bind(step.Claim)...),
		freeLockWaits.with(),
		inv.op.keyed.with(from.bind(step.Args)...))
	results, err := c.send(ctx, script...)
	if len(results) > prior && len(results[prior].rows) > 0 && (err == nil || isPgError(err)) {
		return s.read(results[prior])
	}
	if err != nil {
		return nil, &failure{err: err, claiming: isLockTimeout(err) && len(results) <= prior+1}
	}
	return s.read(results[len(results)-1])
}

// runUnkeyed sends the user's statement without a claim.
func (s *Service) runUnkeyed(ctx context.Context, c *conn, inv *invocation) (*answer, *failure) {
	step := &inv.op.steps[0]
	args := step.Unkeyed
	if inv.op.Strategy == Direct && args == nil {
		args = step.Args // the operation has no other statement
	}
	if isSafeMethod(inv.op.Method) { // it carries no commit that must not be cut off
		reading, cancel := context.WithDeadline(ctx, inv.deadline.Add(s.grace))
		defer cancel()
		ctx = reading
	}
	script := s.preamble(c, inv)
	script = append(script, inv.op.unkeyed.with(s.bound(inv).bind(args)...))
	results, err := c.send(ctx, script...)
	if err != nil {
		return nil, &failure{err: err}
	}
	return s.read(results[len(results)-1])
}

// preamble is what goes ahead of the statements in the pipeline: isolation and
// the session settings.
func (s *Service) preamble(c *conn, inv *invocation) []statement {
	script := c.readCommitted()
	if inv.op.session != nil {
		script = append(script, s.sessionStatement(inv))
	}
	return script
}

// bound is where the parameters of a one-statement operation come from.
func (s *Service) bound(inv *invocation) binding {
	var made *answer
	return binding{inv: inv, empty: func() *answer {
		if problem := inv.op.steps[0].Empty.Problem; made == nil && problem != nil {
			made = s.refuse(inv, errDeclared(problem))
		}
		return made
	}}
}

// read takes the answer from a result of the columns replayed, status, headers,
// body and fingerprint.
func (s *Service) read(r result) (*answer, *failure) {
	if len(r.rows) == 0 {
		return nil, &failure{err: errNoAnswer, claiming: true}
	}
	ans, err := readAnswer(r.rows[0])
	if err != nil {
		return nil, &failure{err: err}
	}
	if ans.status == 0 { // unfinished, of a version of the operation that had calls
		return nil, &failure{err: errNoAnswer, claiming: true}
	}
	return ans, nil
}

func readAnswer(row [][]byte) (*answer, error) {
	status, err := strconv.Atoi(string(row[1]))
	if err != nil {
		return nil, err
	}
	ans := &answer{replayed: isTrue(row[0]), status: status, body: row[3], print: row[4]}
	ans.gone = ans.replayed && row[3] == nil
	if len(row) > len(answerFormats) { // of newRecordQuery
		ans.attempt, _ = strconv.Atoi(string(row[len(answerFormats)]))
	}
	if row[2] != nil {
		ans.headers = map[string]string{}
		if err := addHeaders(ans.headers, row[2]); err != nil {
			return nil, err
		}
		ans.takeMark()
	}
	return ans, nil
}
