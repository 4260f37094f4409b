package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// consent is the flag of commands that destroy something.
type consent struct{ yes bool }

func (c *consent) flag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "don't ask")
}

// confirm asks on a terminal, and demands --yes elsewhere. False is a no.
func (a *app) confirm(c consent, format string, args ...any) (bool, error) {
	if c.yes {
		return true, nil
	}
	question := fmt.Sprintf(format, args...)
	if !a.env.Interactive || !a.env.Terminal || a.env.Stdin == nil {
		return false, &usageError{"this needs a yes, and there is no terminal to ask on: " + question, "add --yes"}
	}
	fmt.Fprintf(a.env.Stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		a.say("")
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	a.say("nothing was changed")
	return false, nil
}
