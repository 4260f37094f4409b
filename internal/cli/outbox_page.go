package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// eventRow is an event without its payload.
type eventRow struct {
	Scope     string  `json:"scope"`
	ID        string  `json:"id"`
	Operation string  `json:"operation"`
	Topic     string  `json:"topic"`
	Key       string  `json:"key"`
	OrderKey  *string `json:"order_key"`
	Status    string  `json:"status"`
	Failures  int32   `json:"failures"`
	CreatedAt string  `json:"created_at"`
	// DueAt is when a PENDING event is dispatched next, or its lease ends;
	// "infinity": when the one ahead of it is done.
	DueAt       string  `json:"due_at"`
	LeaseOwner  *string `json:"lease_owner"`
	ProcessedAt *string `json:"processed_at"`
	Answer      *int16  `json:"answer_status"`
	Reason      *string `json:"reason"`
	// Place is where a list goes on behind this row.
	place []string
}

// eventColumns are those of eventRow, times in UTC with all their digits.
const eventColumns = `o.scope, o.id::text, o.operation, o.topic, o.key, o.order_key, o.status, o.failures,
  idem.rfc3339(o.created_at), idem.rfc3339(o.due_at), o.lease_owner, idem.rfc3339(o.processed_at), o.answer_status, o.reason`

func scanEvent(row pgx.CollectableRow) (e eventRow, err error) {
	err = row.Scan(&e.Scope, &e.ID, &e.Operation, &e.Topic, &e.Key, &e.OrderKey, &e.Status, &e.Failures,
		&e.CreatedAt, &e.DueAt, &e.LeaseOwner, &e.ProcessedAt, &e.Answer, &e.Reason)
	return e, err
}

// eventOrder is how the events of a status are listed: along an index.
type eventOrder struct {
	columns, types string
	descending     bool
	place          func(eventRow) []string
}

var eventOrders = map[string]eventOrder{
	"PENDING": {"o.topic, o.due_at, o.scope, o.id", "text COLLATE \"C\", timestamptz, text COLLATE \"C\", uuid", false,
		func(e eventRow) []string { return []string{e.Topic, e.DueAt, e.Scope, e.ID} }},
	"DEAD": {"o.created_at, o.id", "timestamptz, uuid", false,
		func(e eventRow) []string { return []string{e.CreatedAt, e.ID} }},
	"PROCESSED": {"o.processed_at, o.scope, o.id", "timestamptz, text COLLATE \"C\", uuid", true,
		func(e eventRow) []string { return []string{*e.ProcessedAt, e.Scope, e.ID} }},
}

// eventSearch is one page of a list.
type eventSearch struct {
	scope, topic, status string
	after                []string
	limit                int
}

// sql is the statement of a page, with its parameters. Each filter is there only
// where it is used, so that the plan is made for it.
func (s eventSearch) sql() (string, []any) {
	var args []any
	parameter := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	order := eventOrders[s.status]
	where := []string{"o.status = '" + s.status + "'"}
	if s.scope != "" {
		where = append(where, "o.scope = "+parameter(s.scope))
	}
	if s.topic != "" {
		where = append(where, "o.topic = "+parameter(s.topic))
	}
	compare, direction := ">", ""
	if order.descending {
		compare, direction = "<", " DESC"
	}
	if len(s.after) > 0 {
		var values []string
		for i, kind := range strings.Split(order.types, ", ") {
			base, collation, _ := strings.Cut(kind, " ")
			values = append(values, strings.TrimSpace(parameter(s.after[i])+"::text::"+base+" "+collation))
		}
		where = append(where, "("+order.columns+") "+compare+" ("+strings.Join(values, ", ")+")")
	}
	return "SELECT " + eventColumns + " FROM idem.outbox o WHERE " + strings.Join(where, " AND ") +
		" ORDER BY " + strings.ReplaceAll(order.columns, ",", direction+",") + direction + " LIMIT " + parameter(s.limit), args
}

func (s eventSearch) page(ctx context.Context, pool *pgxpool.Pool) ([]eventRow, error) {
	sql, args := s.sql()
	rows, err := pool.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, scanEvent)
	for i := range found {
		found[i].place = eventOrders[s.status].place(found[i])
	}
	return found, err
}

// eventPlace is a place in a list as a text for --after.
func eventPlace(status string, place []string) string {
	text, err := json.Marshal(append([]string{status}, place...))
	if err != nil {
		return "" // texts are always JSON
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

var errPlace = errors.New("it is no place in such a list")

// parseEventPlace reads what eventPlace wrote for this status.
func parseEventPlace(status, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, errPlace
	}
	var parts []string
	if json.Unmarshal(decoded, &parts) != nil || len(parts) == 0 || parts[0] != status ||
		len(parts)-1 != 1+strings.Count(eventOrders[status].types, ", ") || !isEventID(parts[len(parts)-1]) {
		return nil, errPlace
	}
	return parts[1:], nil
}
