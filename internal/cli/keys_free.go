package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/cli/keyring"
)

func (a *app) keysRelease() *cobra.Command {
	var f keysFlags
	var c consent
	var word verdict
	cmd := &cobra.Command{
		Use:   "release KEY --scope SCOPE [--retry | --refuse]",
		Short: "Free a key whose work is unfinished, or decide how held work goes on",
		Long: `Held work waits for an operator: look into the other system, then decide. --retry says that the call
was not done, or may be made again with the same key; --refuse that it was not done and never will
be: the calls before it are taken back, and the request is answered with 409 given-up.

Without either, deletes a claim that has no answer, and the work behind it. What the work committed
before stays, and the next request with the key begins from the start, with other keys for its calls: look
first whether it was done. A key with an answer is not released (see "keys purge"), and one whose
request is running neither.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := word.check(); err != nil {
				return err
			}
			ring, found, err := a.find(cmd, &f, args)
			if err != nil {
				return err
			}
			defer ring.Pool.Close()
			k, err := single(found)
			if err != nil {
				return err
			}
			if word.given() {
				return a.decide(cmd.Context(), ring, k, word, c)
			}
			if k.Unfinished() {
				yes, err := a.confirm(c, "Release the key of %s? Its next request runs from the start", k.Operation)
				if err != nil || !yes {
					return err
				}
			}
			return a.released(k, ring.Release(cmd.Context(), k))
		},
	}
	f.flags(cmd)
	word.flags(cmd)
	c.flag(cmd)
	return cmd
}

// single refuses a key that several operations have.
func single(found []keyring.Key) (keyring.Key, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	for _, k := range found {
		names = append(names, k.Operation)
	}
	return keyring.Key{}, &usageError{"several operations have this key: " + strings.Join(names, ", "), "say which: --operation " + names[0]}
}

func (a *app) released(k keyring.Key, err error) error {
	hint := ""
	switch {
	case err == nil:
		if a.format == "json" {
			return a.printJSON(jsonOf(k))
		}
		a.print("released the key of %s", k.Operation)
		return nil
	case errors.Is(err, keyring.ErrFinished):
		hint = fmt.Sprintf("it is answered with %d until %s; `%s` deletes the record, and the next request runs again", k.Status, instant(k.ExpiresAt), "idemgen keys purge")
	case errors.Is(err, keyring.ErrRunning):
		hint = "it ends by itself, at the latest after the operation's timeout; work of a process that is gone is free when its lease ends"
	case errors.Is(err, keyring.ErrNotHeld):
		hint = "`idemgen keys list --held` shows what is"
	case errors.Is(err, keyring.ErrGone):
		hint = "it was finished or swept meanwhile"
	default:
		return explained(err)
	}
	a.say("idemgen: %v", err)
	a.say("  hint: %s", hint)
	return errFindings
}

func (a *app) keysPurge() *cobra.Command {
	var f keysFlags
	var c consent
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "purge [KEY] (--scope SCOPE | --operation OPERATION | --expired)",
		Short: "Delete records, so that requests with their keys run again",
		Long: `Deletes the records that the flags find, page by page: one key, those of a scope (a customer who
left), those of an operation, those that have expired. A request that is sent again with such
a key runs again: business intents go on to hold, nothing else does. Unfinished work stays.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.key = args[0]
			}
			if err := f.narrow(); err != nil {
				return err
			}
			ring, err := a.ring(cmd, &f)
			if err != nil {
				return err
			}
			defer ring.Pool.Close()
			if !dryRun {
				yes, err := a.confirm(c, "Delete the records of %s? Requests with their keys run again", f.described())
				if err != nil || !yes {
					return err
				}
			}
			return a.purge(cmd, ring, f.filter(), dryRun)
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.expired, "expired", false, "only keys whose record has expired and was not swept yet")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "count, and delete nothing")
	c.flag(cmd)
	return cmd
}

// narrow refuses to purge everything by leaving out every flag.
func (f *keysFlags) narrow() error {
	switch {
	case f.key != "" && f.scope == "":
		return &usageError{"no scope is given", "the same key in another scope is another key: --scope SCOPE"}
	case f.scope == "" && f.operation == "" && !f.expired:
		return &usageError{"this would delete every record", "say which: --scope SCOPE, --operation OPERATION, or --expired"}
	}
	return nil
}

// described says in words what the flags find.
func (f *keysFlags) described() string {
	what := "all keys"
	if f.key != "" {
		what = "one key"
	}
	if f.expired {
		what += " that have expired"
	}
	if f.operation != "" {
		what += " of operation " + f.operation
	}
	if f.scope != "" {
		what += " of scope " + printable(f.scope)
	}
	return what
}

// purgePage is the number of rows of a transaction: a lock on each, as long as
// it takes.
const purgePage = 1000

type purgedJSON struct {
	Deleted int64 `json:"deleted"`
	Found   int64 `json:"found"`
	DryRun  bool  `json:"dry_run"`
}

// purge says what was deleted also where it ends with an error.
func (a *app) purge(cmd *cobra.Command, ring *keyring.Ring, filter keyring.Filter, dryRun bool) error {
	end := a.progress("purging")
	defer end()
	var out purgedJSON
	out.DryRun = dryRun
	var failed error
	for page, err := range ring.Pages(cmd.Context(), filter, keyring.Cursor{}, purgePage) {
		if failed = err; failed != nil {
			break
		}
		for _, k := range page {
			if !k.Unfinished() {
				out.Found++
			}
		}
		if dryRun {
			continue
		}
		n, err := ring.Purge(cmd.Context(), page)
		out.Deleted += n
		if failed = err; failed != nil {
			break
		}
	}
	end()
	if failed != nil && out.Deleted == 0 {
		return explained(failed)
	}
	if a.format == "json" {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else if dryRun {
		a.print("would delete %s", count(int(out.Found), "record"))
	} else {
		a.print("deleted %s", count(int(out.Deleted), "record"))
	}
	return explained(failed)
}
