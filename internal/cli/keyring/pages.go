package keyring

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/gen"
)

// Cursor is a place behind a row. Its zero value is before the first.
type Cursor struct {
	scope   string
	digest  []byte
	at      pgtype.Timestamptz // where the order is by expires_at
	endless bool               // among what never expires
	done    bool
}

// cursorText is a Cursor as operators pass it on.
type cursorText struct {
	Scope   string     `json:"s"`
	Digest  []byte     `json:"d"`
	At      *time.Time `json:"t,omitempty"`
	Endless bool       `json:"e,omitempty"`
}

// String is the cursor in a form for command lines.
func (c Cursor) String() string {
	text := cursorText{Scope: c.scope, Digest: c.digest, Endless: c.endless}
	if c.at.Valid && c.at.InfinityModifier == pgtype.Finite {
		text.At = &c.at.Time
	}
	raw, _ := json.Marshal(text) // texts and times: it can't fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ParseCursor reads what String gave; "" is the beginning.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	var text cursorText
	if err == nil {
		err = json.Unmarshal(raw, &text)
	}
	if err != nil {
		return Cursor{}, errors.New("this is no place in a list")
	}
	c := Cursor{scope: text.Scope, digest: text.Digest, endless: text.Endless}
	if text.At != nil {
		c.at = pgtype.Timestamptz{Time: *text.At, Valid: true}
	}
	return c, nil
}

// walker reads the pages of one filter.
type walker struct {
	queries *gen.Queries
	filter  Filter
	size    int32
}

// byTime reports whether the order is that of expires_at.
func (w *walker) byTime() bool { return w.filter.Expired || w.filter.Unfinished }

// page reads what follows a cursor. Each filter has a query that an index fits.
func (w *walker) page(ctx context.Context, c Cursor) ([]Key, error) {
	f := w.filter
	if c.digest == nil {
		c.digest = []byte{}
	}
	switch {
	case f.Held:
		rows, err := w.queries.PageHeldKeys(ctx, gen.PageHeldKeysParams{AfterAt: orBeginning(c.at), AfterScope: c.scope, AfterDigest: c.digest,
			Scope: f.Scope, Operation: f.Operation, Key: f.Key, Page: w.size})
		return keys(rows), err
	case w.byTime() && c.endless:
		rows, err := w.queries.PageEndlessKeys(ctx, gen.PageEndlessKeysParams{AfterScope: c.scope, AfterDigest: c.digest,
			Scope: f.Scope, Operation: f.Operation, Key: f.Key, Page: w.size})
		return keys(rows), err
	case w.byTime():
		rows, err := w.queries.PageExpiredKeys(ctx, gen.PageExpiredKeysParams{AfterAt: orBeginning(c.at), AfterScope: c.scope, AfterDigest: c.digest,
			Unfinished: f.Unfinished, Scope: f.Scope, Operation: f.Operation, Key: f.Key, Page: w.size})
		return keys(rows), err
	case f.Scope != "":
		rows, err := w.queries.PageKeysOfScope(ctx, gen.PageKeysOfScopeParams{Scope: f.Scope, AfterDigest: c.digest,
			Operation: f.Operation, Key: f.Key, Page: w.size})
		return keys(rows), err
	}
	rows, err := w.queries.PageKeys(ctx, gen.PageKeysParams{AfterScope: c.scope, AfterDigest: c.digest,
		Operation: f.Operation, Key: f.Key, Page: w.size})
	return keys(rows), err
}

// orBeginning is a time, or the one before all.
func orBeginning(at pgtype.Timestamptz) pgtype.Timestamptz {
	if !at.Valid {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return at
}

// cursor is the place behind the last row of a page.
func (w *walker) cursor(c Cursor, page []Key) Cursor {
	last := page[len(page)-1]
	if w.filter.Held {
		return Cursor{scope: last.Scope, digest: last.Digest, at: last.CreatedAt}
	}
	return Cursor{scope: last.Scope, digest: last.Digest, at: last.ExpiresAt, endless: c.endless}
}

// next is where to go on after the last page: from the expired claims to those
// that never expire, unless only the former are wanted.
func (w *walker) next(c Cursor) Cursor {
	if !w.filter.Held && w.filter.Unfinished && !w.filter.Expired && !c.endless {
		return Cursor{endless: true}
	}
	return Cursor{done: true}
}

// After is the cursor behind a key that a filter found.
func (f Filter) After(k Key) Cursor {
	return (&walker{filter: f}).cursor(Cursor{endless: k.ExpiresAt.InfinityModifier == pgtype.Infinity}, []Key{k})
}

// row is what all lists give: one set of columns.
type row interface {
	gen.PageKeysRow | gen.PageKeysOfScopeRow | gen.PageExpiredKeysRow | gen.PageEndlessKeysRow | gen.PageHeldKeysRow | gen.FindKeysRow
}

func keys[R row](rows []R) []Key {
	out := make([]Key, len(rows))
	for i, r := range rows {
		out[i] = Key(r)
	}
	return out
}
