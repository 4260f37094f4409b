package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// eventShown is an event with what lists leave out.
type eventShown struct {
	eventRow
	Headers       json.RawMessage `json:"headers"`
	AnswerHeaders json.RawMessage `json:"answer_headers"`
	PayloadBytes  int             `json:"payload_bytes"`
	AnswerBytes   int             `json:"answer_bytes"`
	Payload       json.RawMessage `json:"payload,omitempty"`
	AnswerBody    *string         `json:"answer_body,omitempty"`
}

func (a *app) outboxShow() *cobra.Command {
	var f outboxFlags
	var body bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one event",
		Long: `Shows one event. With --scope it is found at once; without, the index is read through. The payload and
the receiver's answer may hold what nobody else should read, so they are shown only if --show-body asks for them.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || !isEventID(args[0]) {
				return errEventID(firstOr(args, ""))
			}
			pool, err := a.open(cmd.Context(), f.database)
			if err != nil {
				return err
			}
			defer pool.Close()
			rows, err := pool.Query(cmd.Context(), `SELECT `+eventColumns+`, o.headers, o.answer_headers, octet_length(o.payload::text),
  coalesce(octet_length(o.answer_body), 0), CASE WHEN $4 THEN o.payload END, CASE WHEN $4 THEN o.answer_body END
FROM idem.outbox o WHERE o.id = $1::text::uuid AND ($2 = '' OR o.scope = $2) AND ($3 = '' OR o.topic = $3)`,
				pgx.QueryExecModeExec, args[0], f.scope, f.topic, body)
			if err != nil {
				return explained(err)
			}
			e, err := pgx.CollectExactlyOneRow(rows, scanShown)
			if errors.Is(err, pgx.ErrNoRows) {
				return errEventID(args[0])
			}
			if err != nil {
				return explained(err)
			}
			return a.eventShown(e)
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&body, "show-body", false, "with the payload and the receiver's answer")
	return cmd
}

func firstOr(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}

func scanShown(row pgx.CollectableRow) (e eventShown, err error) {
	err = row.Scan(&e.Scope, &e.ID, &e.Operation, &e.Topic, &e.Key, &e.OrderKey, &e.Status, &e.Failures,
		&e.CreatedAt, &e.DueAt, &e.LeaseOwner, &e.ProcessedAt, &e.Answer, &e.Reason,
		&e.Headers, &e.AnswerHeaders, &e.PayloadBytes, &e.AnswerBytes, &e.Payload, &e.AnswerBody)
	return e, err
}

func (a *app) eventShown(e eventShown) error {
	if a.format == "json" {
		return a.printJSON(e)
	}
	line := func(name, value string) {
		if value != "" {
			a.print("%-10s %s", name, printable(value))
		}
	}
	line("id", e.ID)
	line("scope", e.Scope)
	line("operation", e.Operation)
	line("topic", e.Topic)
	line("key", e.Key)
	if e.OrderKey != nil {
		line("order key", *e.OrderKey)
	}
	line("status", e.Status+", "+e.state())
	line("created", e.CreatedAt)
	line("failed", count(int(e.Failures), "time"))
	line("headers", string(e.Headers))
	line("payload", strconv.Itoa(e.PayloadBytes)+" bytes")
	if e.Answer != nil {
		line("answer", fmt.Sprintf("%d, %d bytes", *e.Answer, e.AnswerBytes))
	}
	line("", string(e.AnswerHeaders))
	if e.Payload != nil {
		a.print("\n%s", e.Payload)
	}
	if e.AnswerBody != nil {
		a.print("\n%s", *e.AnswerBody)
	}
	return nil
}
