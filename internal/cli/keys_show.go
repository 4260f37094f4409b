package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/cli/keyring"
)

func (a *app) keysShow() *cobra.Command {
	var f keysFlags
	var body bool
	cmd := &cobra.Command{
		Use:   "show KEY --scope SCOPE",
		Short: "Show a key, and its answer's status and headers",
		Long: `Shows a key of a scope, under each operation that has it. With --operation it is found by the
primary key; without, all keys of the scope are looked at. The body of the answer may hold
what nobody else should read, so it is shown only if --show-body asks for it.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ring, found, err := a.find(cmd, &f, args)
			if err != nil {
				return err
			}
			defer ring.Pool.Close()
			out := []shownJSON{}
			for _, k := range found {
				d, err := ring.Show(cmd.Context(), k, body)
				if errors.Is(err, keyring.ErrGone) {
					continue
				}
				if err != nil {
					return explained(err)
				}
				work, err := ring.Work(cmd.Context(), []keyring.Key{k})
				if err != nil {
					return explained(err)
				}
				key := jsonOf(k)
				key.Work = workOf(work[0])
				out = append(out, shownJSON{key, d.Fingerprint, d.Headers, d.Body})
			}
			if a.format == "json" {
				return a.printJSON(out)
			}
			for i, s := range out {
				a.showKey(s, i > 0)
			}
			return nil
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&body, "show-body", false, "with the answer's body")
	return cmd
}

// shownJSON is a key with what lists leave out.
type shownJSON struct {
	keyJSON
	Fingerprint string  `json:"fingerprint"`
	Headers     string  `json:"headers,omitempty"`
	Body        *string `json:"body,omitempty"`
}

func (a *app) showKey(s shownJSON, again bool) {
	if again {
		a.print("")
	}
	state := fmt.Sprint(s.Status)
	if s.Status == 0 {
		state = "unfinished"
	}
	expires := s.ExpiresAt
	if s.Expired {
		expires += " (expired)"
	}
	lines := [][2]string{
		{"scope", s.Scope}, {"operation", s.Operation}, {"key", s.Key}, {"status", state}, {"attempt", fmt.Sprint(s.Attempt)},
		{"created", s.CreatedAt}, {"expires", expires}, {"fingerprint", s.Fingerprint}, {"headers", s.Headers}, {"body", fmt.Sprintf("%d bytes", s.Size)},
	}
	for _, line := range append(lines, s.Work.lines()...) {
		if line[1] != "" {
			a.print("%-12s %s", line[0]+":", printable(line[1]))
		}
	}
	if s.Body != nil {
		a.print("%s", *s.Body)
	}
}

// find opens the database and finds the key that a command is about. Not to find
// it is a finding.
func (a *app) find(cmd *cobra.Command, f *keysFlags, args []string) (*keyring.Ring, []keyring.Key, error) {
	if err := f.oneKey(args); err != nil {
		return nil, nil, err
	}
	ring, err := a.ring(cmd, f)
	if err != nil {
		return nil, nil, err
	}
	end := a.progress("searching")
	found, err := ring.Find(cmd.Context(), f.scope, f.operation, f.key)
	end()
	if err == nil && len(found) > 0 {
		return ring, found, nil
	}
	ring.Pool.Close()
	if err != nil {
		return nil, nil, explained(err)
	}
	a.say("idemgen: there is no such key in scope %s", printable(f.scope))
	return nil, nil, errFindings
}
