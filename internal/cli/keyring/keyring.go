// Package keyring looks into idem.keys for operators: it finds keys page by
// page, shows one, and frees it. No list reads an answer's body.
package keyring

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/idem"
)

// Key is a row of idem.keys without its answer.
type Key struct {
	Scope     string
	Digest    []byte
	Operation string // service.Operation
	Key       string
	Status    int16 // of the answer; 0: there is none yet
	Attempt   int32
	CreatedAt pgtype.Timestamptz
	ExpiresAt pgtype.Timestamptz // infinity: unfinished work
	Expired   bool               // by the database's clock
	Size      int32              // bytes of the answer's body
}

// Unfinished reports whether there is no answer yet.
func (k Key) Unfinished() bool { return k.Status == 0 }

// Filter narrows a search. Empty texts and false stand for all.
type Filter struct {
	Scope      string
	Operation  string // service.Operation
	Key        string
	Expired    bool
	Unfinished bool
	Held       bool // only work that waits for an operator
}

// Ring is the keys of one database. It is safe for concurrent use.
type Ring struct{ Pool *pgxpool.Pool }

// Pages yields what a filter finds, in pages of at most size rows, from behind
// the cursor on; the zero Cursor is the beginning. Each page is a statement of its
// own that goes by an index: rows that come and go meanwhile are seen or not, but
// none is seen twice. A page is never empty. The sequence ends after an error.
func (r *Ring) Pages(ctx context.Context, f Filter, after Cursor, size int) iter.Seq2[[]Key, error] {
	walk := walker{queries: gen.New(r.Pool), filter: f, size: int32(min(size, 10_000))}
	return func(yield func([]Key, error) bool) {
		for {
			page, err := walk.page(ctx, after)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(page) > 0 && !yield(page, nil) {
				return
			}
			if int32(len(page)) == walk.size {
				after = walk.cursor(after, page)
			} else if after = walk.next(after); after.done {
				return
			}
		}
	}
}

// Find looks a key up in its scope: by the primary key where the operation is
// known, else among all keys of the scope.
func (r *Ring) Find(ctx context.Context, scope, operation, key string) ([]Key, error) {
	if operation != "" {
		rows, err := gen.New(r.Pool).FindKeys(ctx, gen.FindKeysParams{Scope: scope, Digests: [][]byte{idem.KeyDigest(operation, key)}})
		return keys(rows), err
	}
	var all []Key
	for page, err := range r.Pages(ctx, Filter{Scope: scope, Key: key}, Cursor{}, 1000) {
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	return all, nil
}

// Detail is what a list leaves out.
type Detail struct {
	Fingerprint string  // in hex
	Headers     string  // the answer's, as JSON; "" for none
	Body        *string // nil where it was not asked for, or there is none
}

// Show reads the rest of a key's row; ErrGone if it is not there any more.
func (r *Ring) Show(ctx context.Context, k Key, withBody bool) (Detail, error) {
	row, err := gen.New(r.Pool).ShowKey(ctx, gen.ShowKeyParams{Scope: k.Scope, Digest: k.Digest, WithBody: withBody})
	if errors.Is(err, pgx.ErrNoRows) {
		return Detail{}, ErrGone
	}
	d := Detail{Fingerprint: row.Fingerprint, Headers: row.Headers}
	if row.HasBody {
		d.Body = &row.Body
	}
	return d, err
}

// What keeps a key from being released.
var (
	ErrGone     = errors.New("the key is not there any more")
	ErrRunning  = errors.New("a request with this key is running")
	ErrFinished = errors.New("the key has an answer")
)

// Release deletes a claim that has no answer, and the work behind it, so that the
// next request with its key runs. The error is one of those above where it did not.
func (r *Ring) Release(ctx context.Context, k Key) error {
	if !k.Unfinished() {
		return ErrFinished
	}
	return pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		q := gen.New(tx)
		free, err := q.LockIdentity(ctx, idem.KeyLock(k.Scope, k.Operation, k.Key))
		if err != nil {
			return err
		}
		if !free {
			return ErrRunning
		}
		if err := releaseWork(ctx, tx, k); err != nil {
			return err
		}
		n, err := q.ReleaseKey(ctx, gen.ReleaseKeyParams{Scope: k.Scope, Digest: k.Digest})
		if err == nil && n == 0 {
			return ErrGone
		}
		return err
	})
}

// Purge deletes the records of keys, each scope's in a transaction of its own,
// and says how many there were. Unfinished work stays.
func (r *Ring) Purge(ctx context.Context, list []Key) (deleted int64, err error) {
	for len(list) > 0 {
		scope := list[0].Scope
		var digests [][]byte
		var rest []Key
		for _, k := range list {
			if k.Scope == scope {
				digests = append(digests, k.Digest)
			} else {
				rest = append(rest, k)
			}
		}
		n, err := gen.New(r.Pool).PurgeKeys(ctx, gen.PurgeKeysParams{Scope: scope, Digests: digests})
		deleted += n
		if err != nil {
			return deleted, err
		}
		list = rest
	}
	return deleted, nil
}
