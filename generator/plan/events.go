package plan

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// eventCTEs write the events of a step, one expression per @outbox word, from the
// rows of the relation rows. They stand ahead of the record: PostgreSQL runs the
// last expression that writes first, so a twin fails on the key, not on an event.
// Attempt is the SQL of a suffix of the keys, "" for none.
func (u *unit) eventCTEs(ps *params, rows, attempt string) []cte {
	var out []cte
	for i, e := range u.step.Events {
		name := "idem_event"
		if i > 0 {
			name = fmt.Sprintf("idem_event_%d", i+1)
		}
		out = append(out, cte{name: name, query: u.event(ps, e, rows, attempt)})
	}
	return out
}

// event is the INSERT of one @outbox word.
func (u *unit) event(ps *params, e model.Event, rows, attempt string) string {
	r := u.p.renderer()
	key := ps.event(e.Label)
	if attempt != "" || u.many() {
		key += "::text"
	}
	if attempt != "" {
		key += " || " + attempt
	}
	if u.many() {
		key += " || '-' || d.idem_n"
	}
	order := "NULL"
	if s := u.find(e.Key); e.Key != "" && s != nil {
		order = orderKey(r, "d."+sqltext.QuoteIdent(s.name), s.typ)
	}
	at, now := "", ""
	if u.many() { // the clock may stand still from row to row, and the rows have an order
		at, now = ", created_at", ",\n  clock_timestamp() + d.idem_n * interval '1 microsecond'"
	}
	sql := "INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload" + at + ")\nSELECT " +
		ps.runtime(ArgScope) + ", " + u.p.operationLiteral() + ", " + sqltext.QuoteLiteral(e.Topic) + ", " + key + ", " +
		order + ", " + ps.runtime(ArgTrace) + "::jsonb,\n" +
		indent(r.rowJSON(tree(u.payload(e)), "d"), "  ") + now + "\nFROM " + u.eventRows(rows)
	if s := u.find(e.If); e.If != "" && s != nil {
		sql += "\nWHERE d." + sqltext.QuoteIdent(s.name)
	}
	return sql
}

// eventRows is where the rows of events come from: for :one the first of them,
// which is the answer's; for :many all of them, numbered.
func (u *unit) eventRows(rows string) string {
	switch {
	case u.many():
		return "(SELECT x.*, row_number() OVER () AS idem_n FROM " + rows + " x) d"
	case u.mayBeEmpty():
		return "(SELECT x.* FROM " + rows + " x LIMIT 1) d"
	}
	return rows + " d"
}

// payload are the columns of an event: the response's, or those that it names,
// in that order.
func (u *unit) payload(e model.Event) []slot {
	if e.Columns == nil {
		return u.visible()
	}
	var out []slot
	for _, name := range e.Columns {
		for _, s := range u.slots {
			if s.within(name) {
				out = append(out, s)
			}
		}
	}
	return out
}

// orderKey is an ordering key as text, cut to what an index takes: longer ones
// that begin alike go in one order.
func orderKey(r renderer, column string, t model.Type) string {
	text := r.plain(column, t)
	bounded := []model.Kind{model.KindBool, model.KindInt2, model.KindInt4, model.KindInt8, model.KindUUID, model.KindDate, model.KindTimestamptz}
	if !t.Array && slices.Contains(bounded, t.Kind) {
		return text
	}
	return "left(" + text + ", 255)"
}

// nextAttempt is the suffix of the keys of a forced run's events: ".2" for the
// second run under the key.
func nextAttempt(scope, digest string) string {
	return "coalesce((SELECT '.' || k.attempt + 1 FROM idem.keys k WHERE k.scope = " + scope + " AND k.digest = " + digest + "), '')"
}
