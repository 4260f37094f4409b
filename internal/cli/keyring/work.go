package keyring

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/idem"
)

// Work is what is known of an operation that commits in between, without what
// its request brought.
type Work = gen.WorkOfKeysRow

// Work finds the work behind keys: one value per key, nil for those that have none.
func (r *Ring) Work(ctx context.Context, list []Key) ([]*Work, error) {
	scopes := map[string][][]byte{}
	for _, k := range list {
		scopes[k.Scope] = append(scopes[k.Scope], k.Digest)
	}
	type identity struct{ scope, digest string }
	found := map[identity]*Work{}
	for scope, digests := range scopes {
		rows, err := gen.New(r.Pool).WorkOfKeys(ctx, gen.WorkOfKeysParams{Scope: scope, Digests: digests})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			found[identity{scope, string(rows[i].Digest)}] = &rows[i]
		}
	}
	out := make([]*Work, len(list))
	for i, k := range list {
		out[i] = found[identity{k.Scope, string(k.Digest)}]
	}
	return out, nil
}

// ErrNotHeld: nothing waits for an operator's word.
var ErrNotHeld = errors.New("the operation is not held")

// Retry lets a held operation go on where it stands; ErrNotHeld if it is not held.
func (r *Ring) Retry(ctx context.Context, k Key) error {
	return unheld(idem.RetryHeld(ctx, r.Pool, k.Scope, k.Operation, k.Key))
}

// Refuse ends a held operation with a client error; ErrNotHeld if it is not held.
func (r *Ring) Refuse(ctx context.Context, k Key) error {
	return unheld(idem.RefuseHeld(ctx, r.Pool, k.Scope, k.Operation, k.Key))
}

func unheld(err error) error {
	if errors.Is(err, idem.ErrNotHeld) {
		return ErrNotHeld
	}
	return err
}

// releaseWork deletes the work behind a key, unless somebody works at it. Who has
// lost the lease meanwhile finds nothing to write to.
func releaseWork(ctx context.Context, tx pgx.Tx, k Key) error {
	q := gen.New(tx)
	leased, err := q.LockWorkOfKey(ctx, gen.LockWorkOfKeyParams{Scope: k.Scope, Digest: k.Digest})
	if err != nil || len(leased) == 0 {
		return err
	}
	if leased[0] {
		return ErrRunning
	}
	return q.ReleaseWork(ctx, gen.ReleaseWorkParams{Scope: k.Scope, Digest: k.Digest})
}
