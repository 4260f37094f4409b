package idem

// The statements around the steps of a transaction. They are prepared like the
// business SQL: read anew each time, they would cost more than they do.
var (
	beginAt = map[Isolation]query{
		ReadCommitted:  newQuery("BEGIN ISOLATION LEVEL READ COMMITTED"),
		RepeatableRead: newQuery("BEGIN ISOLATION LEVEL REPEATABLE READ"),
		Serializable:   newQuery("BEGIN ISOLATION LEVEL SERIALIZABLE"),
	}
	enterQueries = enterAll()
	// Left set, it would end waits for business rows.
	freeLockWaits    = newQuery("SET LOCAL lock_timeout TO DEFAULT")
	setSavepoint     = newQuery("SAVEPOINT idem")
	checkConstraints = newQuery("SET CONSTRAINTS ALL IMMEDIATE")
	// Fails if the business SQL ended the transaction on its own.
	releaseSavepoint = newQuery("RELEASE SAVEPOINT idem")
	// Sent as it is: who reads along sees where a transaction ends.
	commitAll = query{sql: "COMMIT"}
)

// entry is what the statement behind BEGIN does: it bounds the transaction and,
// where there is a key, takes the lock.
type entry struct {
	checksClient bool // the server can look whether the client is still there
	keyed        bool
	tries        bool // the lock is not waited for
	claims       bool // the key row follows, and is waited for as well
}

// lockColumn is where a tried lock is told of.
const lockColumn = 2

// query relies on PostgreSQL evaluating a select list from left to right: the
// limit of the wait, the wait, the end of the limit.
func (e entry) query() query {
	sql := "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)"
	switch {
	case e.keyed && e.tries:
		sql += ", pg_try_advisory_xact_lock($3)"
	case e.keyed:
		sql += ", set_config('lock_timeout', $4, true), pg_advisory_xact_lock($3)"
	}
	switch {
	case e.keyed && e.tries && e.claims:
		sql += ", set_config('lock_timeout', '1ms', true)"
	case e.keyed && !e.tries && !e.claims:
		sql += ", set_config('lock_timeout', NULL, true)" // the default
	}
	if e.checksClient {
		sql += ", set_config('client_connection_check_interval', '5s', true)"
	}
	return newQuery(sql)
}

func enterAll() map[entry]query {
	all := map[entry]query{}
	for i := range 1 << 4 {
		e := entry{i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0}
		all[e] = e.query()
	}
	return all
}

// frame are all statements around the steps, for a connection to learn ahead.
func (t *transaction) frame() []query {
	queries := []query{t.begins(), t.enters(), checkConstraints}
	if t.sentinel() {
		queries = append(queries, setSavepoint, releaseSavepoint)
	}
	switch {
	case !t.inv.keyed():
		return queries
	case t.inv.forced:
		return append(queries, findRecord, replaceRecord)
	case t.rowFirst():
		return append(queries, findRecord, claimKey, freeLockWaits, finishClaim)
	}
	return append(queries, findRecord, finishRecord)
}

// looks is the look-up of the record, or of what there is in its place.
func (t *transaction) looks() query {
	if t.inv.op.durable() {
		return findWork
	}
	return findRecord
}

func (t *transaction) begins() query { return beginAt[t.inv.op.Policy.Isolation] }

func (t *transaction) enters() query {
	return enterQueries[entry{
		checksClient: t.c.facts.checksClient, keyed: t.inv.keyed(), tries: t.tries(), claims: t.claims(),
	}]
}
