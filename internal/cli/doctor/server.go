package doctor

import (
	"context"
	"time"
)

// oldest is the first version of PostgreSQL that the emitted SQL runs on.
const oldest = 130000

func server(ctx context.Context, e *exam) error {
	var number int
	var version string
	var standby bool
	err := e.Pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version'), pg_is_in_recovery()").Scan(&number, &version, &standby)
	switch {
	case err != nil:
		return err
	case number < oldest:
		e.add(Problem, "use PostgreSQL 13 or later", "PostgreSQL %s is too old", version)
	case standby:
		e.add(Problem, "name the primary: target_session_attrs=read-write in the URL", "this is a standby, which refuses writes")
	default:
		e.ok("PostgreSQL %s", version)
	}
	return nil
}

// settings looks at what the role and the database hand down to each transaction.
func settings(ctx context.Context, e *exam) error {
	var isolation, readOnly, zone, commit string
	err := e.Pool.QueryRow(ctx, `SELECT current_setting('default_transaction_isolation'), current_setting('default_transaction_read_only'),
		current_setting('TimeZone'), current_setting('synchronous_commit')`).Scan(&isolation, &readOnly, &zone, &commit)
	if err != nil {
		return err
	}
	before := len(e.findings)
	if isolation != "read committed" {
		e.add(Warning, "ALTER ROLE … SET default_transaction_isolation = 'read committed'; an operation that needs more says isolation=",
			"default_transaction_isolation is %s: each operation states READ COMMITTED anew, and other statements meet 40001", isolation)
	}
	if readOnly == "on" {
		e.add(Problem, "ALTER ROLE … RESET default_transaction_read_only, or use another role", "default_transaction_read_only is on: no operation can write")
	}
	if zone != "UTC" && zone != "Etc/UTC" && zone != "GMT" {
		e.add(Warning, "ALTER ROLE … SET timezone = 'UTC'", "TimeZone is %s: times inside json_agg and other JSON that your SQL builds follow it", zone)
	}
	if commit == "off" {
		e.add(Warning, "leave synchronous_commit on for the role of the service", "synchronous_commit is off: what a client was told may be lost in a crash, together with its record")
	}
	if len(e.findings) == before {
		e.ok("read committed, writable, UTC, synchronous_commit = %s", commit)
	}
	return nil
}

// apart is how far the clocks may be from each other.
const apart = 2 * time.Second

// clock compares the two clocks. Keys expire by the database's alone; `now` and
// uuid7 are made by the service.
func clock(ctx context.Context, e *exam) error {
	if err := e.Pool.Ping(ctx); err != nil { // so that connecting is not measured
		return err
	}
	begin := e.Now()
	var there time.Time
	if err := e.Pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return err
	}
	trip := e.Now().Sub(begin)
	difference := there.Sub(begin.Add(trip / 2))
	if difference.Abs() > apart+trip/2 {
		e.add(Warning, "let both run NTP: times bound to `now`, and uuid7, are made by the service's clock",
			"the database's clock is %s from this one's", difference.Round(100*time.Millisecond))
		return nil
	}
	e.ok("the clocks agree within %s", apart)
	return nil
}
