package idem

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/gen"
)

// storeLimit is the size of a body, in bytes, above which a tombstone is kept.
const storeLimit = 1 << 20

var (
	findRecord   = newRecordQuery(gen.FindRecord)
	expireRecord = newQuery(gen.ExpireRecord)
	insertRecord = newQuery(gen.InsertRecord)
	finishRecord = newQuery(gen.FinishRecord)
	claimKey     = newQuery(gen.ClaimKey)
	finishClaim  = newQuery(gen.FinishClaim)
)

// find looks for the record that answers the request: nil if the key is
// unprotected, unused or expired, and for a forced run, which no record answers.
func (s *Service) find(ctx context.Context, inv *invocation) (*answer, error) {
	if !inv.keyed() || inv.forced {
		return nil, nil
	}
	return s.lookUp(ctx, inv)
}

// lookUp reads the key's record, nil if there is none.
func (s *Service) lookUp(ctx context.Context, inv *invocation) (*answer, error) {
	if inv.op.durable() {
		met, err := s.lookFor(ctx, inv)
		return met.answered(), err
	}
	results, err := inv.pool.sendAside(ctx, findRecord.with(inv.identityParams()...))
	if err != nil || len(results[0].rows) == 0 {
		return nil, err
	}
	return readAnswer(results[0].rows[0])
}

// declare answers with a client error and records it. The writes of the attempt
// are undone already.
func (s *Service) declare(ctx context.Context, inv *invocation, e *Error) *answer {
	return s.record(ctx, inv, s.refuse(inv, e), inv.op.keepErrors())
}

// record stores an answer, unless the key has a record: then that is the answer.
func (s *Service) record(ctx context.Context, inv *invocation, ans *answer, keep time.Duration) *answer {
	if !inv.keyed() {
		return ans
	}
	params := append(s.recordParams(inv, ans, keep), []byte(millis(max(inv.op.Policy.Wait, time.Second))))
	for range maxVanished {
		results, err := inv.pool.writeAside(ctx, insertRecord.with(params...))
		switch {
		case isLockTimeout(err):
			return s.refuse(inv, errInFlight())
		case err != nil:
			return s.refuse(inv, errUnavailable(err))
		case len(results[0].rows) > 0:
			ans.stored = true
			return ans
		case inv.forced:
			return ans // a forced run that fails leaves the record as it is
		}
		found, err := s.find(ctx, inv)
		if err != nil {
			return s.refuse(inv, errUnavailable(err))
		}
		if found != nil {
			return s.judge(inv, found)
		}
	}
	return s.refuse(inv, errInFlight())
}

func (inv *invocation) identityParams() [][]byte {
	return [][]byte{[]byte(inv.scope), byteaText(inv.digest)}
}

// claimParams are scope, digest, operation, key and fingerprint.
func (inv *invocation) claimParams() [][]byte {
	return append(inv.identityParams(), []byte(inv.op.stored), []byte(inv.key), byteaText(inv.print))
}

// recordParams are claimParams and answerParams.
func (s *Service) recordParams(inv *invocation, ans *answer, keep time.Duration) [][]byte {
	return append(inv.claimParams(), s.answerParams(inv, ans, keep)...)
}

// answerParams are status, headers, body and the time to keep them.
func (s *Service) answerParams(inv *invocation, ans *answer, keep time.Duration) [][]byte {
	body, kept := ans.body, ans.kept()
	if body == nil {
		body = []byte{}
	}
	switch {
	case len(body) > storeLimit, inv.op.Policy.Tombstone && ans.status < 400:
		body = nil
	case inv.op.Policy.Sealed:
		body, kept = s.seal(inv, ans.status, body, kept)
	}
	var headers []byte
	if len(kept) > 0 {
		headers = marshal(kept)
	}
	return [][]byte{strconv.AppendInt(nil, int64(ans.status), 10), headers, body,
		fmt.Appendf(nil, "%.6f seconds", keep.Seconds())}
}

// millis is a duration as PostgreSQL's settings take it.
func millis(d time.Duration) string {
	return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
}
