package idem

import (
	"context"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Request identifies a call of Do.
type Request struct {
	Scope     string // what the key belongs to, 1 to 255 bytes
	Operation string // stable name, apart from those of other operations
	Key       string // 1 to 255 visible ASCII characters
	// Fingerprint is a digest of the inputs that a repetition must share; empty:
	// not compared.
	Fingerprint []byte
	// Policy: zero values are the defaults of profile ietf; a Wait below 0 is
	// not to wait at all. Print, MaxBody and Force have no meaning here.
	Policy Policy
	// Observer, Seal and Outbox are as in Options.
	Observer Observer
	Seal     cipher.AEAD
	Outbox   Outbox
}

// Response is what a handler of Do answers, its writes kept.
type Response struct {
	Status int         // 2xx, 3xx, or a 4xx that a repetition would meet again; 0 is 200
	Header http.Header // those that are never stored are left out of a replay
	Body   []byte
}

// Tx is the transaction of a handler: without Commit and Rollback, which are not
// its to call. It must not be used after the handler has returned.
type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}

// Do runs a hand-written handler under a key: claim, the handler's writes and
// the record of its response are one transaction, and a repetition gets the
// recorded response without running it. The handler may run several times, in a
// new transaction each, until one commits.
//
// Where the handler returns an *Error (see Fail) its writes are undone, and the
// error is recorded for repetitions. Do returns a client error, of the handler or
// its own (a key that is reused or in flight), as *Error; any other error of the
// handler ends as an *Error with status 500. Do is safe for concurrent use.
//
// Each call stands alone: many copies of one request at once hold a connection
// each. A Service keeps them waiting in memory instead.
func Do(ctx context.Context, pool *pgxpool.Pool, request Request, handler func(ctx context.Context, tx Tx) (Response, error)) (Response, Meta, error) {
	if err := request.validate(); err != nil {
		return Response{}, Meta{}, err
	}
	s, err := newService(pool, Config{Profile: ProfileIETF}, Options{Observer: request.Observer, Seal: request.Seal, Outbox: request.Outbox})
	if err != nil {
		return Response{}, Meta{}, err
	}
	op := &operation{stored: request.Operation, Operation: &Operation{
		Name: Name(request.Operation), Strategy: Stepped, Policy: request.Policy.orDefault(),
	}}
	inv := newInvocation(op, s.pools.all[0], request.Scope)
	inv.print, inv.handler = printOfBytes(request.Fingerprint), handler
	inv.client = request.Key
	inv.protect(request.Key)
	inv.seen = s.watch(ctx, op)
	inv.trace = traceOf(inv.seen.context(ctx), nil).json()
	ans, err := s.await(inv.seen.context(ctx), inv)
	if err != nil {
		return Response{}, Meta{}, err
	}
	meta := ans.meta()
	if ans.isProblem() {
		return Response{}, meta, ans.asError()
	}
	return Response{Status: ans.status, Header: meta.Header, Body: ans.body}, meta, nil
}

func (r *Request) validate() error {
	switch {
	case len(r.Scope) < 1 || len(r.Scope) > maxScopeLength:
		return errors.New("idem: Request.Scope must have 1 to 255 bytes")
	case r.Policy.Sealed && r.Seal == nil:
		return errors.New("idem: Request.Policy.Sealed is set, but Request.Seal is nil: there is no key to seal the answer with")
	case r.Operation == "":
		return errors.New("idem: Request.Operation is empty")
	case r.Key == "":
		return errKeyMissing("Request.Key is empty.")
	case !validKey(r.Key):
		return ietf.errKeyInvalid("Request.Key must be 1 to 255 visible ASCII characters.")
	}
	return nil
}

// orDefault fills in the defaults of profile ietf.
func (p Policy) orDefault() Policy {
	if p.Success <= 0 {
		p.Success = 24 * time.Hour
	}
	if p.ClientError <= 0 {
		p.ClientError = 2 * time.Hour
	}
	if p.Wait == 0 {
		p.Wait = 2 * time.Second
	}
	p.Wait = max(p.Wait, 0)
	if p.Timeout <= 0 {
		p.Timeout = 30 * time.Second
	}
	return p
}

// runHandler is the business of Do.
func (t *transaction) runHandler(ctx context.Context) (*answer, *failure) {
	response, err := t.handled(ctx)
	if err != nil {
		if _, wrong := ownError(err); wrong != nil { // looked into here, where a panic of its methods is met
			err = wrong
		}
		return nil, &failure{err: err, step: unknownStep}
	}
	if !isStorable(response.Status) {
		return nil, &failure{err: fmt.Errorf("idem: a handler can't answer %d: a failure is returned as an error", response.Status), step: unknownStep}
	}
	ans := &answer{status: response.Status, body: response.Body, headers: map[string]string{}}
	if ans.status == 0 {
		ans.status = http.StatusOK
	}
	for name, values := range response.Header {
		ans.headers[http.CanonicalHeaderKey(name)] = strings.Join(values, ", ")
	}
	return ans, nil
}

// handled runs the handler, whose transaction ends with it.
func (t *transaction) handled(ctx context.Context) (Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tx := t.c.lease("the handler", t.inv.pool, cancel)
	defer tx.end()
	response, err := t.inv.handler(withEmitter(ctx, t.inv, tx, "do"), tx)
	if err == nil {
		err = tx.giveBack(t.c)
	}
	return response, err
}

// isStorable: a status whose writes are kept and which is replayed.
func isStorable(status int) bool {
	return status == 0 || status >= 200 && status < 400 || isDefinite(status)
}

// printOfBytes is a fingerprint that was made elsewhere in the form of ours.
func printOfBytes(given []byte) []byte {
	sum := make([]byte, printSize)
	if len(given) == 0 {
		return sum // nothing is compared
	}
	sum[0] = printV1
	digest := sha256.Sum256(given)
	copy(sum[printSize-printPart:], digest[:printPart])
	return sum
}
