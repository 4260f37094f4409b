package cli

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/cli/keyring"
)

func (a *app) keysList() *cobra.Command {
	var f keysFlags
	var limit int
	var after string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List keys, without their answers",
		Long: `Lists keys in the order of their scope; with --expired or --unfinished in the order in which they
expire, with --held the oldest first. --scope, --expired, --unfinished and --held go by an index; --operation or --key alone reads the whole table.
--limit rows are shown; the last line then says how to go on.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cursor, err := keyring.ParseCursor(after)
			if err != nil {
				return &usageError{"--after: " + err.Error(), "use what the list before it ended with"}
			}
			if limit < 1 || limit > 100_000 {
				return &usageError{"--limit is out of range", "use 1 to 100000 rows"}
			}
			ring, err := a.ring(cmd, &f)
			if err != nil {
				return err
			}
			defer ring.Pool.Close()
			end := a.progress("reading")
			defer end()
			var found []keyring.Key
			for page, err := range ring.Pages(cmd.Context(), f.filter(), cursor, min(limit+1, 1000)) {
				if err != nil {
					return explained(err)
				}
				if found = append(found, page...); len(found) > limit {
					break
				}
			}
			work, err := workBehind(cmd.Context(), ring, found)
			if err != nil {
				return explained(err)
			}
			end()
			return a.listed(f.filter(), found, work, limit)
		},
	}
	f.flags(cmd)
	f.states(cmd)
	cmd.Flags().IntVar(&limit, "limit", 100, "rows, at most")
	cmd.Flags().StringVar(&after, "after", "", "go on behind this place, which the list before it ended with")
	return cmd
}

// keyJSON is a key for programs.
type keyJSON struct {
	Scope     string `json:"scope"`
	Operation string `json:"operation"`
	Key       string `json:"key"`
	Status    int16  `json:"status"` // 0: unfinished
	Attempt   int32  `json:"attempt"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"` // RFC 3339, or infinity
	Expired   bool   `json:"expired"`
	Size      int32  `json:"size"`
	// Work is of unfinished keys that commit in between.
	Work *workJSON `json:"work,omitempty"`
}

type keysJSON struct {
	Keys []keyJSON `json:"keys"`
	Next string    `json:"next,omitempty"`
}

func (a *app) listed(f keyring.Filter, found []keyring.Key, work []*keyring.Work, limit int) error {
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = f.After(found[limit-1]).String()
	}
	if a.format == "json" {
		out := keysJSON{Keys: []keyJSON{}, Next: next}
		for i, k := range found {
			key := jsonOf(k)
			key.Work = workOf(work[i])
			out.Keys = append(out.Keys, key)
		}
		return a.printJSON(out)
	}
	if a.quiet {
		return nil
	}
	if len(found) == 0 {
		a.print("no keys")
		return nil
	}
	t := table{head: []string{"SCOPE", "OPERATION", "KEY", "STATUS", "CREATED", "EXPIRES", "BYTES"}}
	for i, k := range found {
		t.add(k.Scope, k.Operation, k.Key, stateOf(k, work[i]), instant(k.CreatedAt), expiry(k), fmt.Sprint(k.Size))
	}
	if err := t.write(a.env.Stdout, a.env.Width); err != nil {
		return err
	}
	if next != "" {
		a.print("more: %s", a.command("keys list --after "+next))
	}
	return nil
}

func jsonOf(k keyring.Key) keyJSON {
	return keyJSON{k.Scope, k.Operation, k.Key, k.Status, k.Attempt, instant(k.CreatedAt), instant(k.ExpiresAt), k.Expired, k.Size, nil}
}

func expiry(k keyring.Key) string {
	if k.Expired {
		return instant(k.ExpiresAt) + " (expired)"
	}
	return instant(k.ExpiresAt)
}

func instant(t pgtype.Timestamptz) string {
	switch {
	case !t.Valid:
		return ""
	case t.InfinityModifier != pgtype.Finite:
		return t.InfinityModifier.String()
	}
	return t.Time.UTC().Format(time.RFC3339)
}
