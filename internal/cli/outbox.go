package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// outboxFlags narrow down which events a command works on.
type outboxFlags struct {
	database
	scope, topic string
}

func (f *outboxFlags) flags(cmd *cobra.Command) {
	f.flag(cmd)
	cmd.Flags().StringVar(&f.scope, "scope", "", "only events of this scope")
	cmd.Flags().StringVar(&f.topic, "topic", "", "only events of this topic")
}

func (a *app) outbox() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outbox",
		Short: "Find events, and retry or discard those that are dead",
		Long: `Looks into idem.outbox. An event is PENDING until its receiver has it, then PROCESSED; it is DEAD
where the receiver refused it for good, or too often. A dead event blocks those behind it with the same
ordering key until it is retried or discarded. Payloads and answers are shown only by "outbox show --show-body".`,
		Args: a.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.outboxList(), a.outboxShow(), a.outboxRetry(), a.outboxDiscard())
	return cmd
}

// isEventID reports whether a text is a uuid as lists show it.
func isEventID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range strings.ToLower(text) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && c != '-' || !dash && !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}

// errEventID is what an argument that is no uuid gets.
func errEventID(text string) error {
	return &usageError{"no event has the ID \"" + text + "\"", "IDs are what `idemgen outbox list` shows, like 0f8fad5b-d9cb-469f-a165-70867728950e"}
}
