package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/cli/keyring"
)

// workJSON is how far an operation has come that commits in between.
type workJSON struct {
	EventID    string `json:"event_id,omitempty"` // of an async operation
	Step       int32  `json:"step"`               // index of the one at which it stands
	Attempt    int32  `json:"attempt"`            // how often a lease was taken
	Tries      int32  `json:"tries"`              // failed ones of the step
	Leased     bool   `json:"leased"`             // a process works at it
	LeaseUntil string `json:"lease_until,omitempty"`
	DueAt      string `json:"due_at,omitempty"` // of the next try
	Held       bool   `json:"held"`
	Undoing    bool   `json:"undoing"` // its calls are taken back
	Reason     string `json:"reason,omitempty"`
}

func workOf(w *keyring.Work) *workJSON {
	if w == nil {
		return nil
	}
	return &workJSON{w.EventID, w.Step, w.Attempt, w.Tries, w.Leased, instant(w.LeaseUntil), instant(w.DueAt), w.Held, w.Undoing, w.Reason}
}

// workBehind finds the work of those keys that are unfinished, one value per key.
func workBehind(ctx context.Context, ring *keyring.Ring, list []keyring.Key) ([]*keyring.Work, error) {
	var unfinished []keyring.Key
	var at []int
	for i, k := range list {
		if k.Unfinished() {
			unfinished, at = append(unfinished, k), append(at, i)
		}
	}
	found, err := ring.Work(ctx, unfinished)
	out := make([]*keyring.Work, len(list))
	for i, w := range found {
		out[at[i]] = w
	}
	return out, err
}

// stateOf says in a cell how far a key is.
func stateOf(k keyring.Key, w *keyring.Work) string {
	switch {
	case !k.Unfinished():
		return fmt.Sprint(k.Status)
	case w == nil:
		return "unfinished"
	}
	return workOf(w).state()
}

// state says in words how far the work is, and what is next.
func (w *workJSON) state() string {
	place := fmt.Sprintf("step %d, attempt %d", w.Step, w.Attempt)
	if w.Undoing {
		place += ", undoing"
	}
	switch {
	case w.Held:
		return "held, " + place + ": " + w.Reason
	case w.Leased:
		return "unfinished, " + place + ", leased until " + w.LeaseUntil
	case w.DueAt == "":
		return "done"
	}
	return "unfinished, " + place + ", due " + w.DueAt
}

// lines are those of `keys show`; none where there is no work.
func (w *workJSON) lines() [][2]string {
	if w == nil {
		return nil
	}
	return [][2]string{{"event", w.EventID}, {"work", w.state()}}
}

// verdict is an operator's word about held work.
type verdict struct{ retry, refuse bool }

func (v *verdict) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.retry, "retry", false, "held work: go on where it stands, with the same key for the call")
	cmd.Flags().BoolVar(&v.refuse, "refuse", false, "held work: the step was not done; take back what was, and answer 409")
}

func (v *verdict) given() bool { return v.retry || v.refuse }

func (v *verdict) check() error {
	if v.retry && v.refuse {
		return &usageError{"--retry and --refuse exclude each other", "say what is to become of the call: one of them"}
	}
	return nil
}

// decide passes the word on.
func (a *app) decide(ctx context.Context, ring *keyring.Ring, k keyring.Key, v verdict, c consent) error {
	act, question, done := ring.Retry, "Let the held request of %s go on? Its call is made again", "%s goes on: a running service continues it, or the next request with its key"
	if v.refuse {
		act, question, done = ring.Refuse, "Refuse the held request of %s? What it called before is taken back", "%s is refused: a running service takes back its calls, and records 409 given-up"
	}
	yes, err := a.confirm(c, question, k.Operation)
	if err != nil || !yes {
		return err
	}
	if err := act(ctx, k); err != nil {
		return a.released(k, err)
	}
	if a.format == "json" {
		return a.printJSON(jsonOf(k))
	}
	a.print(done, k.Operation)
	return nil
}
