package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/idem"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	database
	batch    int
	rest     float64
	events   time.Duration
	interval time.Duration
}

func (a *app) sweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Delete expired keys, and events that were processed long ago",
		Long: `Deletes what is expired now, batch by batch, beside running services: the same that a
service does in Run. For cron, or for a service that does not sweep. With --interval it goes
on until it is interrupted, and logs each sweep on stdout.

Overdue is the age of the oldest expired key that is still there: another transaction
holds it. Exit code 1: one is overdue for over a minute.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			pool, err := a.open(cmd.Context(), f.database)
			if err != nil {
				return err
			}
			defer pool.Close()
			sweeper := &idem.Sweeper{Pool: pool, Batch: f.batch, Rest: f.rest, Events: f.events, Interval: f.interval}
			if f.rest == 0 {
				sweeper.Rest = -1
			}
			if f.interval > 0 {
				sweeper.Logger = a.sweepLog()
				return sweeper.Run(cmd.Context())
			}
			return a.sweepOnce(cmd.Context(), sweeper)
		},
	}
	f.flag(cmd)
	cmd.Flags().IntVar(&f.batch, "batch", 1000, "rows per transaction, at most")
	cmd.Flags().Float64Var(&f.rest, "rest", 7, "after a full batch, rest for so many times as long as it took")
	cmd.Flags().DurationVar(&f.events, "events", 7*24*time.Hour, "how long processed events are kept")
	cmd.Flags().DurationVar(&f.interval, "interval", 0, "sweep again and again, with about this pause; not set: once")
	return cmd
}

func (f *sweepFlags) check() error {
	switch {
	case f.batch < 1 || f.batch > 100_000:
		return &usageError{"--batch is out of range", "use 1 to 100000 rows"}
	case !(f.rest >= 0 && f.rest <= 1000):
		return &usageError{"--rest is out of range", "use 0, for no rest, to 1000"}
	case f.events <= 0:
		return &usageError{"--events is not above 0", "write how long processed events are kept, like 168h"}
	case f.interval < 0:
		return &usageError{"--interval is below 0", "write the pause between sweeps, like 1m"}
	}
	return nil
}

// sweepLog is where a sweeper that goes on tells what it did.
func (a *app) sweepLog() *slog.Logger {
	switch {
	case a.quiet:
		return slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	case a.format == "json":
		return slog.New(slog.NewJSONHandler(a.env.Stdout, nil))
	}
	return slog.New(slog.NewTextHandler(a.env.Stdout, nil))
}

// overdueFinding is how long a key may be overdue after a sweep: some are
// being claimed again at that moment.
const overdueFinding = time.Minute

// sweepOnce says what was done also where it ends with an error, unless that is
// nothing.
func (a *app) sweepOnce(ctx context.Context, sweeper *idem.Sweeper) error {
	end := a.progress("sweeping")
	swept, err := sweeper.Sweep(ctx)
	end()
	if err != nil && swept.Keys+swept.Events == 0 {
		return explained(err)
	}
	if printErr := a.swept(swept, err == nil); printErr != nil {
		return printErr
	}
	switch {
	case err != nil:
		return explained(err)
	case swept.Overdue > overdueFinding:
		if a.format != "json" {
			a.say("idemgen: a key that expired %s ago is still there: another transaction holds it; pg_stat_activity shows which are open for long", swept.Overdue.Round(time.Second))
		}
		return errFindings
	}
	return nil
}

type sweptJSON struct {
	Keys    int64   `json:"keys"`
	Events  int64   `json:"events"`
	Rounds  int     `json:"rounds"`
	Overdue float64 `json:"overdue_seconds"`
	Ended   bool    `json:"ended"` // false: an error kept it from looking at everything
}

func (a *app) swept(swept idem.Swept, ended bool) error {
	if a.format == "json" {
		return a.printJSON(sweptJSON{swept.Keys, swept.Events, swept.Rounds, swept.Overdue.Seconds(), ended})
	}
	a.print("deleted %s and %s in %s; overdue: %s", count(int(swept.Keys), "key"), count(int(swept.Events), "event"),
		count(swept.Rounds, "round"), overdue(swept, ended))
	return nil
}

func overdue(swept idem.Swept, ended bool) string {
	switch {
	case !ended:
		return "not known"
	case swept.Overdue == 0:
		return "none"
	}
	return swept.Overdue.Round(time.Millisecond).String()
}
