package idemtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

func (job *work) answer(w http.ResponseWriter) {
	ctx := context.WithoutCancel(job.request)
	if job.requestContext {
		ctx = job.request
	}
	got, err := job.retried(ctx)
	var refused outcome
	switch {
	case errors.As(err, &refused):
		got = job.refusal(refused)
	case err != nil:
		got = job.failed(ctx)
	}
	job.write(w, got)
}

// failed answers an error that nobody foresaw, and records it where it is to be.
func (job *work) failed(ctx context.Context) record {
	got := job.refusal(outcome{code: "internal"})
	keep := lifetimes[job.profile].ServerError
	if job.forced {
		return got // the record that there is stays
	}
	got.final = keep > 0 && job.key != ""
	if job.keepsErrors {
		keep = time.Hour
	}
	if keep > 0 && job.key != "" && !job.forgetsErrors {
		if err := job.store(ctx, job.pool, got, keep); err != nil {
			return job.refusal(outcome{code: "unavailable"})
		}
	}
	return got
}

// retried runs attempts until one says what happened.
func (job *work) retried(ctx context.Context) (record, error) {
	for range 5 {
		got, err := job.attempt(ctx)
		var refused outcome
		var pgError *pgconn.PgError
		switch {
		case err == nil || errors.As(err, &refused) || ctx.Err() != nil:
			return got, err
		case errors.As(err, &pgError):
			if pgError.Code != "40001" || job.noRetry {
				return got, err
			}
		case job.lostIsError:
			return got, err
		case job.lostRunsAgain:
			job.key = newKey()
		}
	}
	return record{}, outcome{code: "unavailable"}
}

type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func (job *work) attempt(ctx context.Context) (got record, err error) {
	committing := false
	apart := job.recordFirst || job.recordOutside || job.recordsRequestly
	err = pgx.BeginFunc(ctx, job.pool, func(tx pgx.Tx) error {
		found := false
		if got, found, err = job.claim(ctx, tx); err != nil || found {
			return err
		}
		if job.twoConnections {
			defer func() { _, _ = job.pool.Exec(ctx, "SELECT 1") }()
		}
		if got, err = job.business(ctx, tx); err != nil || apart || job.key == "" {
			return err
		}
		err = job.recordIn(ctx, tx, got)
		committing = err == nil
		return err
	})
	if err != nil && job.trustsCommit && committing {
		return got, nil
	}
	if err == nil && !got.replayed && !job.recordFirst && apart {
		if job.recordsRequestly {
			ctx = job.request
		}
		err = job.recordIn(ctx, job.pool, got)
	}
	return got, err
}

// claim takes the right to run, or finds the record.
func (job *work) claim(ctx context.Context, tx pgx.Tx) (got record, found bool, err error) {
	if job.key == "" {
		return got, false, nil
	}
	if err := job.lock(ctx, tx); err != nil {
		return got, false, err
	}
	if job.forced { // unless it has become a plain one
		return got, false, job.replace(ctx, tx)
	}
	got, found, err = job.find(ctx, tx)
	if err != nil || found {
		return got, found, err
	}
	switch {
	case job.claimOutside:
		err = job.store(ctx, job.side, record{}, time.Hour)
	case job.recordFirst:
		err = job.store(ctx, job.side, record{status: 201, body: `{"id": 1}`}, 24*time.Hour)
	}
	return got, false, err
}

// replace makes room for the record of a forced run.
func (job *work) replace(ctx context.Context, tx executor) error {
	switch {
	case job.forcesFirst:
		tx = job.side
	case job.forcesBeside:
		job.key = newKey()
	case job.forcesAtOnce:
		return nil // the record is overwritten
	}
	_, err := tx.Exec(ctx, "DELETE FROM idem.keys WHERE scope = $1 AND digest = $2", job.scope, job.digest())
	return err
}

func (job *work) lock(ctx context.Context, tx pgx.Tx) error {
	var locked bool
	sql := "SELECT pg_advisory_xact_lock(hashtext($1)) IS NOT NULL"
	switch {
	case job.noLock, job.forced && job.forcesAtOnce:
		return nil
	case job.forced && job.forcesTogether:
		return job.join(ctx, tx)
	case job.leavesLock:
		sql = "SELECT pg_advisory_lock(hashtext($1)) IS NOT NULL AND pg_advisory_unlock(hashtext($1)) AND pg_advisory_lock_shared(7) IS NOT NULL"
	case job.forced && job.forcesAlone, !job.forced && (job.noWait || job.profile != "ietf" && !job.waits):
		sql = "SELECT pg_try_advisory_xact_lock(hashtext($1))"
	}
	if job.leavesSetting {
		if _, err := tx.Exec(ctx, "SET lock_timeout = '1min'"); err != nil {
			return err
		}
	}
	if job.hurried {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '100ms'"); err != nil {
			return err
		}
	}
	err := tx.QueryRow(ctx, sql, job.scope+"/"+job.key).Scan(&locked)
	var pgError *pgconn.PgError
	if errors.As(err, &pgError) && pgError.Code == "55P03" || err == nil && !locked {
		return outcome{code: codeInFlight}
	}
	if err == nil && job.hurried {
		_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = 0")
	}
	return err
}

// join waits for a forced run, to be answered by it.
func (job *work) join(ctx context.Context, tx pgx.Tx) error {
	const try = "SELECT pg_try_advisory_xact_lock(hashtext($1))"
	if err := tx.QueryRow(ctx, try, job.scope+"/"+job.key).Scan(&job.forced); err != nil || job.forced {
		return err
	}
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", job.scope+"/"+job.key)
	return err
}

func (job *work) find(ctx context.Context, tx pgx.Tx) (got record, found bool, err error) {
	sql := "SELECT status, headers, coalesce(body, ''), fingerprint, body IS NULL FROM idem.keys WHERE scope = $1 AND digest = $2"
	args := []any{job.scope, job.digest()}
	switch {
	case job.immortal:
	case job.clientClock:
		sql += " AND expires_at > $3"
		args = append(args, time.Now())
	default:
		sql += " AND expires_at > clock_timestamp()"
	}
	gone := false
	err = tx.QueryRow(ctx, sql, args...).Scan(&got.status, &got.headers, &got.body, &got.print, &gone)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return got, false, nil
	case err != nil:
		return got, false, err
	case got.status == 0:
		return got, true, outcome{code: codeInFlight}
	case got.status >= 400 && job.runsAfterRefusals:
		return got, false, nil
	case string(got.print) != string(job.print) && job.profile != "gateway" || job.reusedIs > 0 && string(got.print) != string(job.print):
		return got, true, job.mismatch()
	}
	return job.replay(ctx, tx, got, gone)
}

func (job *work) mismatch() outcome {
	o := outcome{code: codeReused, detail: "the body"}
	if job.telling {
		o.detail = "the body has reference " + job.payment.Reference
	}
	return o
}

func (job *work) replay(ctx context.Context, tx pgx.Tx, got record, gone bool) (record, bool, error) {
	if job.extends {
		const sql = "UPDATE idem.keys SET expires_at = clock_timestamp() + interval '2 days' WHERE scope = $1 AND digest = $2"
		if _, err := tx.Exec(ctx, sql, job.scope, job.digest()); err != nil {
			return got, true, err
		}
	}
	if gone || job.tombstone && got.status < 400 {
		location := got.headers["Location"]
		got = job.refusal(outcome{code: codeNotStored})
		if location != "" && !job.forgetsLocation {
			got.headers["Location"] = location
		}
	}
	if job.sealed && !job.keepsBody {
		got.body = rot(got.body)
	}
	got.replayed = true
	return got, true, nil
}

func (job *work) digest() []byte {
	sum := sha256.Sum256([]byte(job.key))
	return sum[:16]
}

// business does what was asked, or says what it refuses, its writes undone.
func (job *work) business(ctx context.Context, tx pgx.Tx) (got record, err error) {
	var refused outcome
	saved, err := tx.Begin(ctx)
	if err != nil {
		return got, err
	}
	got, err = job.pay(ctx, saved)
	if !errors.As(err, &refused) {
		if err == nil {
			err = saved.Commit(ctx)
		}
		return got, err
	}
	if job.keepsWrites {
		err = saved.Commit(ctx)
	} else {
		err = saved.Rollback(ctx)
	}
	if err == nil && job.returns && refused.code == codeIntent {
		return job.existing(ctx, tx)
	}
	return job.refusal(refused), err
}

func (job *work) pay(ctx context.Context, tx pgx.Tx) (record, error) {
	var id int64
	err := tx.QueryRow(ctx, "INSERT INTO payments (tenant, reference, amount) VALUES ($1, $2, $3) RETURNING id",
		job.tenant, job.payment.Reference, job.payment.Amount).Scan(&id)
	var pgError *pgconn.PgError
	if errors.As(err, &pgError) && pgError.Code == "23505" && !job.intentIs500 {
		return record{}, outcome{code: codeIntent}
	}
	if err == nil && job.payment.Amount > limit {
		return record{}, outcome{code: "over-limit"}
	}
	return job.paid(id), err
}

func (job *work) paid(id int64) record {
	got := record{status: 201, body: fmt.Sprintf(`{"id": %d}`, id), headers: map[string]string{
		"Content-Type": "application/json", "Location": fmt.Sprint("/v1/payments/", id),
	}}
	if job.storesCookies {
		got.headers["Set-Cookie"] = "session=" + job.tenant
	}
	return got
}

// existing is the row that an intent protects, as the answer.
func (job *work) existing(ctx context.Context, tx pgx.Tx) (record, error) {
	var id, amount int64
	sql := "SELECT id, amount FROM payments WHERE tenant = $1 AND reference = $2"
	if job.intentRunsAgain {
		sql = "UPDATE payments SET amount = amount WHERE tenant = $1 AND reference = $2 RETURNING id, amount"
	}
	err := tx.QueryRow(ctx, sql, job.tenant, job.payment.Reference).Scan(&id, &amount)
	if err == nil && amount != job.payment.Amount && !job.returnsAny {
		return job.refusal(outcome{code: codeIntent}), nil
	}
	got := job.paid(id)
	got.replayed = true
	return got, err
}

// recordIn records an answer for its time.
func (job *work) recordIn(ctx context.Context, db executor, got record) error {
	kept := lifetimes[job.profile]
	keep := kept.Success
	switch {
	case got.status >= 400 && job.forgetsRefusals:
		return nil
	case got.status >= 400 && !job.keepsRefusals:
		keep = kept.ClientError
	case job.shortLived:
		keep = time.Hour
	}
	return job.store(ctx, db, got, keep)
}

func (job *work) store(ctx context.Context, db executor, got record, keep time.Duration) error {
	body := &got.body
	switch {
	case job.keepsBody:
	case job.tombstone && got.status < 400:
		body = nil
	case job.sealed:
		sealed := rot(got.body)
		body = &sealed
	}
	_, err := db.Exec(ctx, `INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)
VALUES ($1, $2, 'Pay', $3, $4, $5, $6, $7, clock_timestamp() + $8::text::interval)
ON CONFLICT (scope, digest) DO UPDATE SET status = excluded.status, headers = excluded.headers, body = excluded.body,
  fingerprint = excluded.fingerprint, expires_at = excluded.expires_at`,
		job.scope, job.digest(), job.key, job.print, got.status, got.headers, body, fmt.Sprintf("%f seconds", keep.Seconds()))
	return err
}

// rot stands for a cipher: it is its own inverse.
func rot(text string) string {
	out := []byte(text)
	for i, c := range out {
		out[i] = 0x9f - c
	}
	return string(out)
}

// carefulSweep is how expired keys should go.
const carefulSweep = `WITH victim AS MATERIALIZED (
  SELECT scope, digest FROM idem.keys WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
DELETE FROM idem.keys k USING victim v WHERE k.scope = v.scope AND k.digest = v.digest`

// sweepWith repeats a statement until it deletes nothing.
func sweepWith(sql string) func(context.Context, *pgxpool.Pool, int) error {
	return func(ctx context.Context, pool *pgxpool.Pool, batch int) error {
		for {
			tag, err := pool.Exec(ctx, sql, batch)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
		}
	}
}
