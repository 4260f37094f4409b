package cli

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/idem/outbox"
)

// eventAct is retry or discard.
type eventAct struct {
	done string // "retried"
	do   func(context.Context, *pgxpool.Pool, outbox.Selection) (int64, error)
	// question is asked first: it can't be undone. "": nothing is asked.
	question string
}

func (a *app) outboxRetry() *cobra.Command {
	return a.eventCommand(&cobra.Command{
		Use:   "retry [ID]",
		Short: "Deliver dead events again",
		Long: `Makes dead events PENDING again, with all their tries: one, or those that --scope and --topic select, or
--all. One that waits for its next try is made due at once. What is leased, or waits for an event ahead of it, stays as it is.
A running dispatcher finds them within its interval.

Exit code 1: there was no such event.`,
	}, eventAct{done: "retried", do: outbox.Retry})
}

func (a *app) outboxDiscard() *cobra.Command {
	return a.eventCommand(&cobra.Command{
		Use:   "discard [ID]",
		Short: "Give dead events up",
		Long: `Ends events without a delivery: one, or the dead ones that --scope and --topic select, or --all of them. Those behind
them with the same ordering key go on. The rows are kept as PROCESSED, with the reason "discarded", until they are swept.
What is leased stays as it is.

Exit code 1: there was no such event.`,
	}, eventAct{done: "discarded", do: outbox.Discard, question: "Discard %s? The receiver never gets what is discarded"})
}

func (a *app) eventCommand(cmd *cobra.Command, act eventAct) *cobra.Command {
	var f outboxFlags
	var c consent
	var all bool
	cmd.Args = atMost(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chosen := outbox.Selection{Scope: f.scope, Topic: f.topic, ID: firstOr(args, "")}
		switch {
		case chosen.ID != "" && !isEventID(chosen.ID):
			return errEventID(chosen.ID)
		case chosen.ID == "" && f.scope == "" && f.topic == "" && !all:
			return &usageError{"no event is chosen", "write the ID of one, or --scope, --topic or --all"}
		}
		if act.question != "" {
			if yes, err := a.confirm(c, act.question, f.described(chosen.ID)); err != nil || !yes {
				return err
			}
		}
		pool, err := a.open(cmd.Context(), f.database)
		if err != nil {
			return err
		}
		defer pool.Close()
		n, err := act.do(cmd.Context(), pool, chosen)
		if err != nil {
			return explained(err)
		}
		return a.acted(act.done, n)
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all dead events")
	if act.question != "" {
		c.flag(cmd)
	}
	return cmd
}

// described says in words which events are chosen.
func (f *outboxFlags) described(id string) string {
	what := "all dead events"
	if id != "" {
		what = "one event"
	}
	if f.topic != "" {
		what += " of topic " + printable(f.topic)
	}
	if f.scope != "" {
		what += " of scope " + printable(f.scope)
	}
	return what
}

func (a *app) acted(done string, n int64) error {
	var err error
	if a.format == "json" {
		err = a.printJSON(map[string]int64{done: n})
	} else {
		a.print("%s %s", done, count(int(n), "event"))
	}
	if err == nil && n == 0 {
		err = errFindings
	}
	return err
}
