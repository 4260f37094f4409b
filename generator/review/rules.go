package review

// Severity says what a finding asks for.
type Severity string

// The severities.
const (
	Risk Severity = "risk" // somebody must decide: clients, records or locks may suffer
	Note Severity = "note" // worth to know
)

// Rule is a kind of finding.
type Rule struct {
	ID       string
	Severity Severity
	Means    string // why it matters
	Way      string // what to do
}

// Rules are all kinds of finding, by what they are about. docs/reviewing.md has
// them as a table.
func Rules() []Rule {
	var out []Rule
	for _, group := range [][]Rule{serviceRules, keyRules, lockRules, policyRules, contractRules, outsideRules, schemaRules} {
		out = append(out, group...)
	}
	return out
}

func ruleOf(id string) Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	panic("review: there is no rule " + id)
}

var serviceRules = []Rule{
	{"operation-added", Note, "It is new.", "Read all of it."},
	{"operation-removed", Risk, "Clients that call it get 404, and its records are never replayed again.", "Keep it until no client calls it."},
	{"operation-renamed", Risk, "The name is part of every key: a request that was sent before the deploy and is sent again after it runs twice.",
		"Keep the stored name by @operation."},
	{"service-renamed", Risk, "The name is part of every key: no record of before is replayed.", "Keep `service:`; rename in a quiet hour, when no client retries."},
	{"scope-changed", Risk, "Keys belong to somebody else: no record of before is replayed, and other requests may share a key.",
		"Deploy it when no client retries; check that the new scope separates tenants."},
	{"profile-changed", Risk, "Headers, statuses and error bodies of every operation change.", "Tell the clients first."},
	{"session-changed", Risk, "The settings that row-level security reads are others.", "Check the policies of every table against them."},
	{"json-changed", Risk, "Names or forms of members change in every answer.", "Give clients a new route."},
	{"unknown-refused", Risk, "Requests with members that no operation knows were accepted, and get 400 now.", "Check what clients send."},
}

var keyRules = []Rule{
	{"key-weakened", Risk, "Requests may run without a key, and twice.", "Keep the key required, or give the operation an @intent."},
	{"key-required", Risk, "Clients that send no key get 400 now.", "Tell the clients first."},
	{"key-changed", Risk, "The key is made of something else: a request sent again after the deploy finds no record, and runs twice.",
		"Deploy it when no client retries."},
	{"intent-dropped", Risk, "The key protects for hours; only the intent kept a second row away for ever.",
		"Keep the @intent. If it must go, its index stays until a migration of yours drops it."},
	{"intent-changed", Risk, "Other rows count as the same intent.", "Check that the new index is built, and that it includes the scope."},
	{"intent-added", Note, "Its unique index refuses rows that were accepted.", "Run the query for duplicates in the migration first."},
	{"fingerprint-changed", Risk, "A request recorded before the deploy and sent again after it may count as another one, and get key-reused.",
		"Deploy it when no client retries; an optional input that is added changes nothing."},
}

var lockRules = []Rule{
	{"lock-added", Risk, "Requests wait for each other where they did not.", "Check what else locks it, and in which order."},
	{"lock-order", Risk, "Two operations that lock the same in another order stop each other (40P01, tried again).",
		"Lock in the same order everywhere; ORDER BY before FOR UPDATE."},
	{"lock-longer", Risk, "Locks are held for more round trips: the same row lets fewer requests through.", "Lock late; put what needs no lock before it."},
	{"strategy-slower", Risk, "The operation takes more round trips or a longer transaction.", "See the reason in REVIEW.md; docs/strategies.md says what each needs."},
	{"round-trips", Risk, "Each one holds the transaction and its connection for longer.", "Join statements, if they need no answer in between."},
}

var policyRules = []Rule{
	{"ttl-shorter", Risk, "A client that retries later than this runs again.", "It must be longer than the longest time in which clients retry."},
	{"ttl-longer", Note, "The table of keys grows by as much.", "Check its size: docs/operations.md."},
	{"errors-recorded", Risk, "A server error is replayed: retries get it until it expires.", "Leave it 0s, unless the operation has effects outside the database."},
	{"record-changed", Risk, "What a retry gets changes.", "Check what clients do with 409 response-not-stored."},
	{"timeout-changed", Risk, "Shorter: work that took longer is cut off. Longer: locks and connections are held for longer.", "Compare with what it takes at its slowest."},
	{"wait-changed", Risk, "What a copy of a running request gets, and how long it holds a connection, changes.", "Compare with what the operation takes."},
	{"isolation-changed", Risk, "Other anomalies are possible, or other requests are tried again (40001).", "Check each statement against it."},
	{"body-limit-lower", Risk, "Requests that were accepted get 413.", "Check what clients send."},
	{"force-retry", Risk, "Clients may make an operation run again, or may no longer.", "Check who may send the header."},
}

var contractRules = []Rule{
	{"route-changed", Risk, "Clients that call the old one get 404 or 405.", "Keep the old route as an operation of its own."},
	{"status-changed", Risk, "Clients that compare the status take it for something else; records of before have the old one.", "Tell the clients first."},
	{"answer-removed", Risk, "What led to it is now answered otherwise: at worst as success, or by a 500.", "Check what takes its place."},
	{"answer-changed", Risk, "Clients that look at status or code take it for something else.", "Keep the code; it is what clients compare."},
	{"answer-added", Note, "Clients get an answer that they don't know.", "Document it."},
	{"input-required", Risk, "Requests without it get 422, retries of requests from before the deploy too, if they have no record.", "Give it a default, or make it optional."},
	{"input-removed", Risk, "Requests with it get 400, unless unknown members are ignored; its value counts no more.", "Keep accepting it for a while."},
	{"input-type", Risk, "Values that were accepted may be refused or mean something else.", "Check what clients send."},
	{"input-stricter", Risk, "Values that were accepted are refused.", "Check what clients send."},
	{"member-removed", Risk, "Clients that read it break.", "Keep it for a while."},
	{"member-type", Risk, "Clients that read it may break.", "Add a member of another name."},
	{"header-removed", Risk, "Clients that follow it break.", "Keep it for a while."},
}

var schemaRules = []Rule{
	{"index-blocks", Risk, "All writes to the table wait while the index is built.", "CREATE INDEX CONCURRENTLY in a migration of its own (NO TRANSACTION); a constraint then takes it by USING INDEX."},
	{"index-concurrent", Note, "It waits for every transaction that is older. A unique one fails if there are duplicates, and leaves an INVALID index.",
		"Run the query for duplicates first; watch for transactions that stay open."},
	{"migration-edited", Risk, "goose applies a migration once: a database that has it never sees the edit.", "Undo the edit, and write a new migration."},
	{"constraint-removed", Risk, "Rows that it kept away are accepted.", "Check what relied on it."},
	{"constraint-added", Note, "Rows that break it are refused; adding it reads the whole table under a lock.", "Add it NOT VALID, and validate it in another migration."},
}
