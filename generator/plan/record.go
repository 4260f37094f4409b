package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// storeLimit is the size in bytes above which a response is not stored: a
// tombstone keeps a retry from running again.
const storeLimit = 1 << 20

// interval writes a duration as people say it. Fractions are of seconds: before
// version 15, PostgreSQL takes no more than 2³¹ milliseconds.
func interval(d time.Duration) string {
	// No days: 24 hours is what no change of clocks can stretch.
	units := []struct {
		size time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	for _, u := range units {
		if d%u.size != 0 {
			continue
		}
		n := d / u.size
		if n == 1 {
			return fmt.Sprintf("interval '1 %s'", u.name)
		}
		return fmt.Sprintf("interval '%d %ss'", n, u.name)
	}
	seconds := fmt.Sprintf("%d.%06d", d/time.Second, d%time.Second/time.Microsecond)
	return "interval '" + strings.TrimRight(seconds, "0") + " seconds'"
}

// lifetime is how long the answer's record is kept: an answer whose writes
// stay as a success, whatever its status.
func (u *unit) lifetime() string {
	policy := u.p.op.Policy
	if u.mayBeEmpty() && !u.step.Empty.Fine && policy.ClientError != policy.Success {
		return "CASE WHEN a.hit THEN " + interval(policy.Success) + " ELSE " + interval(policy.ClientError) + " END"
	}
	return interval(policy.Success)
}

// storedBody is what the record keeps of the body: NULL is a tombstone.
func (u *unit) storedBody() string {
	if u.p.op.Policy.RecordBody || u.p.op.Response.Kind == model.ResponseNone || u.exec() {
		return fmt.Sprintf("CASE WHEN octet_length(a.body) <= %d THEN a.body END", storeLimit)
	}
	if u.mayBeEmpty() {
		return "CASE WHEN NOT a.hit THEN a.body END"
	}
	return "NULL"
}

// firstAnswer is the main query of a statement that ran. It takes the columns as
// they are: PostgreSQL would prepare each expression anew for each execution.
const firstAnswer = `SELECT a.replayed, a.status, a.headers, a.body, a.fingerprint
FROM idem_answer a`

// emptyStatus is what an empty result answers.
func emptyStatus(e model.Empty) int {
	if e.Fine {
		return e.Status
	}
	return e.Problem.Status
}

// waitLimit bounds the wait for a running twin. Zero, which means not to wait,
// is as short as PostgreSQL can.
func waitLimit(wait time.Duration) cte {
	why := "How long to wait for a running twin; the setting ends with the transaction."
	if wait == 0 {
		why = "A running twin is not waited for; 0 would mean without a limit."
	}
	return cte{
		name:         "idem_lim",
		materialized: true,
		why:          why,
		query:        "SELECT " + lockTimeout(wait) + " AS v",
	}
}

// lockTimeout limits waits for locks up to the end of the transaction.
func lockTimeout(wait time.Duration) string {
	return fmt.Sprintf("set_config('lock_timeout', '%dms', true)", max(wait.Milliseconds(), 1))
}

// operationLiteral quotes the operation's stored name.
func (p *planner) operationLiteral() string { return sqltext.QuoteLiteral(p.operationName()) }
