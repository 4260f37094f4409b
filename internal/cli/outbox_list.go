package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) outboxList() *cobra.Command {
	var f outboxFlags
	var status, after string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List events of one status, those that are dead by default",
		Long: `Lists events of one status: DEAD ones by their age, PENDING ones by topic and by when they are due,
PROCESSED ones from the newest on. Payloads are not shown. Where there are more, the last line says how to go on.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			search := eventSearch{scope: f.scope, topic: f.topic, status: strings.ToUpper(status), limit: limit + 1}
			if !contains([]string{"DEAD", "PENDING", "PROCESSED"}, search.status) {
				return &usageError{fmt.Sprintf("--status is %q", status), oneOf([]string{"dead", "pending", "processed"}, status)}
			}
			if limit < 1 || limit > 10_000 {
				return &usageError{"--limit is out of range", "use 1 to 10000 rows"}
			}
			var err error
			if search.after, err = parseEventPlace(search.status, after); err != nil {
				return &usageError{"--after: " + err.Error(), "use what the list before it ended with, and the same --status"}
			}
			pool, err := a.open(cmd.Context(), f.database)
			if err != nil {
				return err
			}
			defer pool.Close()
			found, err := search.page(cmd.Context(), pool)
			if err != nil {
				return explained(err)
			}
			return a.eventsListed(search, found, limit)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&status, "status", "dead", "dead, pending or processed")
	cmd.Flags().IntVar(&limit, "limit", 50, "rows, at most")
	cmd.Flags().StringVar(&after, "after", "", "go on behind this place, which the list before it ended with")
	return cmd
}

type eventsJSON struct {
	Events []eventRow `json:"events"`
	Next   string     `json:"next,omitempty"`
}

func (a *app) eventsListed(s eventSearch, found []eventRow, limit int) error {
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = eventPlace(s.status, found[limit-1].place)
	}
	if a.format == "json" {
		return a.printJSON(eventsJSON{append([]eventRow{}, found...), next})
	}
	if a.quiet {
		return nil
	}
	if len(found) == 0 {
		a.print("no %s events", strings.ToLower(s.status))
		return nil
	}
	t := table{head: []string{"ID", "SCOPE", "TOPIC", "ORDER KEY", "CREATED", "FAILED", "STATE"}}
	for _, e := range found {
		order := ""
		if e.OrderKey != nil {
			order = *e.OrderKey
		}
		t.add(e.ID, e.Scope, e.Topic, order, inSeconds(e.CreatedAt), strconv.Itoa(int(e.Failures)), e.state())
	}
	if err := t.write(a.env.Stdout, a.env.Width); err != nil {
		return err
	}
	if next != "" {
		a.print("more: add --after %s", next)
	}
	return nil
}

// state says in words how far an event is.
func (e *eventRow) state() string {
	switch {
	case e.Status == "DEAD":
		return orNone(e.Reason)
	case e.Status == "PROCESSED" && e.Reason != nil:
		return inSeconds(*e.ProcessedAt) + ", " + *e.Reason
	case e.Status == "PROCESSED":
		return inSeconds(*e.ProcessedAt)
	case e.LeaseOwner != nil:
		return "leased until " + inSeconds(e.DueAt) + " by " + *e.LeaseOwner
	case e.DueAt == "infinity":
		return "waits for the one ahead of it"
	case e.Reason != nil:
		return "due " + inSeconds(e.DueAt) + ", " + *e.Reason
	}
	return "due " + inSeconds(e.DueAt)
}

func orNone(s *string) string {
	if s == nil {
		return "no reason"
	}
	return *s
}

// inSeconds cuts the fraction of a time in UTC.
func inSeconds(text string) string {
	whole, _, cut := strings.Cut(text, ".")
	if cut {
		return whole + "Z"
	}
	return text
}
