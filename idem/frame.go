package idem

// The statements around the steps of a transaction. They are prepared like the
// business SQL: read anew each time, they would cost more than they do.
var (
	beginAt = map[Isolation]query{
		ReadCommitted:  newQuery("BEGIN ISOLATION LEVEL READ COMMITTED"),
		RepeatableRead: newQuery("BEGIN ISOLATION LEVEL REPEATABLE READ"),
		Serializable:   newQuery("BEGIN ISOLATION LEVEL SERIALIZABLE"),
	}
	setLimits        = newQuery(limits)
	setLimitsChecked = newQuery(limits + ", set_config('client_connection_check_interval', '5s', true)")
	waitForLock      = newQuery("SELECT pg_advisory_xact_lock($1)")
	tryLock          = newQuery("SELECT pg_try_advisory_xact_lock($1)")
	// Left set, it would end waits for business rows.
	freeLockWaits    = newQuery("SET LOCAL lock_timeout TO DEFAULT")
	setSavepoint     = newQuery("SAVEPOINT idem")
	checkConstraints = newQuery("SET CONSTRAINTS ALL IMMEDIATE")
	// Fails if the business SQL ended the transaction on its own.
	releaseSavepoint = newQuery("RELEASE SAVEPOINT idem")
	// Sent as it is: who reads along sees where a transaction ends.
	commitAll = query{sql: "COMMIT"}
)

const limits = "SELECT set_config('statement_timeout', $1, true), " +
	"set_config('idle_in_transaction_session_timeout', $2, true), set_config('lock_timeout', $3, true)"

// frame are all statements around the steps, for a connection to learn ahead.
func (t *transaction) frame() []query {
	queries := []query{t.begins(), t.limits(), freeLockWaits, checkConstraints}
	if t.sentinel() {
		queries = append(queries, setSavepoint, releaseSavepoint)
	}
	if !t.inv.keyed() {
		return queries
	}
	queries = append(queries, t.locks(), findRecord)
	if t.rowFirst() {
		return append(queries, claimKey, finishClaim)
	}
	return append(queries, finishRecord)
}

func (t *transaction) begins() query { return beginAt[t.inv.op.Policy.Isolation] }

func (t *transaction) limits() query {
	if t.c.facts.checksClient {
		return setLimitsChecked
	}
	return setLimits
}

func (t *transaction) locks() query {
	if t.tries() {
		return tryLock
	}
	return waitForLock
}
