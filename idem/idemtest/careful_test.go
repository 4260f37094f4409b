package idemtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// careful is a handler that keeps every promise with SQL of its own, in any
// profile, and one flag for each way in which handlers break them.
type careful struct {
	pool, side *pgxpool.Pool

	profile   string
	intent    bool // one payment per tenant and reference
	returns   bool // the intent's row is the answer
	tombstone bool // answers are not kept
	sealed    bool // they are kept unreadable
	keyFree   bool // the operation has no key
	forces    bool // X-Force-Retry runs it again
	hides     bool // bodies of refusals say nothing
	hurried   bool // who waits gives up soon

	broken
}

// broken are the ways to break a promise.
type broken struct {
	claimOutside      bool // the claim is committed before the business
	recordOutside     bool // the record is a transaction of its own, after the business
	recordFirst       bool // the record is committed before the business
	globalScope       bool
	noFingerprint     bool
	amountUnprinted   bool // one field is left out of the fingerprint
	rawFingerprint    bool // the bytes of the body
	keepsErrors       bool // a 500 is recorded, whatever the profile says
	forgetsErrors     bool // a 500 is not recorded, whatever the profile says
	requestContext    bool // the work ends with the client
	recordsRequestly  bool // only the record does
	noWait            bool // a copy of a running request is refused
	waits             bool // a copy of a running request waits, whatever the profile says
	noLock            bool // copies of a running request run
	otherBytes        bool // a replay is encoded again
	unmarked          bool // a replay does not say so
	firstUnmarked     bool // a first answer does not say so
	storesCookies     bool
	immortal          bool // expired records are replayed
	extends           bool // a replay is kept for longer
	clientClock       bool // expiry by this process's clock
	shortLived        bool // a success is kept for an hour
	anyKey            bool // keys are not checked
	keyless           bool // requests without a key run
	keyNeeded         bool // requests without a key are refused, whatever the profile says
	shortKeys         bool // keys are cut to 64 characters
	bareKeys          bool // the quoted form is another key
	echoesAny         bool // a malformed key is echoed
	noEcho            bool // no key is echoed
	noRetry           bool // 40001 is a 500
	lostIsError       bool // a lost connection is a 500
	lostRunsAgain     bool // after a lost commit the business is done again
	twoConnections    bool // a second one is taken while one is held
	trustsCommit      bool // the answer does not wait for the commit
	telling           bool // a mismatch shows the values
	flightIs500       bool // a request in flight is an error
	flightHasBody     bool
	reusedIs          int  // status of a mismatch
	forgetsRefusals   bool // client errors are not recorded
	keepsRefusals     bool // client errors are kept as long as a success
	keepsWrites       bool // a client error keeps what was written before it
	intentIs500       bool
	intentRunsAgain   bool
	recordsUnkeyed    bool // requests without a key are recorded under one of their content
	leavesSetting     bool // a setting of the session is left behind
	leavesLock        bool // a lock of the session is left behind
	keepsBody         bool // a tombstone or a sealed record has the body
	forgetsLocation   bool // a tombstone has no Location
	marksUnprotected  bool // an answer without a key is marked
	runsAfterRefusals bool // a request that was refused runs again
	forcesAlways      bool // X-Force-Retry runs it again, whatever the policy says
	ignoresForce      bool
	forcesFirst       bool // the old record is gone before a forced run has ended
	forcesBeside      bool // a forced run leaves the old record
	forcesAtOnce      bool // forced runs don't wait for each other
	forcesAlone       bool // a forced run beside another one is turned away
	forcesTogether    bool // a forced run beside another one gets its answer
	returnsAny        bool // the intent's row is the answer, whatever it holds
	noAdvice          bool // no answer says whether to retry
	advisesAll        bool // every answer says so
	advisesNone       bool // no answer says so
	replaysUnadvised  bool // a replay says nothing
	noRetryAfter      bool // nobody is told when
}

type payment struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// limit is the most that may be paid.
const limit = 1000

// work is one request as careful sees it.
type work struct {
	*careful
	by                 *protocol
	request            context.Context
	scope, key, tenant string
	print              []byte
	payment            payment
	forced             bool
}

func (c careful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	job := &work{careful: &c, by: protocols[c.profile], request: r.Context(), tenant: r.Header.Get(CallerHeader)}
	if code := job.takeKey(r); code != "" {
		if lines := r.Header.Values(job.by.keyHeader); c.echoesAny && len(lines) > 0 {
			w.Header().Set(job.by.keyHeader, lines[0])
		}
		job.write(w, job.refusal(outcome{code: code}))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &job.payment)
	}
	if err != nil {
		job.write(w, job.refusal(outcome{code: "body-malformed"}))
		return
	}
	job.scope = job.tenant
	if c.globalScope {
		job.scope = "everybody"
	}
	job.print = c.fingerprint(job.payment, body)
	job.forced = r.Header.Get(forceHeader) == "true" && (c.forces || c.forcesAlways) && !c.ignoresForce
	job.answer(w)
}

func (c careful) fingerprint(of payment, raw []byte) []byte {
	if c.amountUnprinted {
		of.Amount = 0
	}
	canonical, _ := json.Marshal(of)
	switch {
	case c.rawFingerprint:
		canonical = raw
	case c.noFingerprint:
		canonical = nil
	}
	sum := sha256.Sum256(canonical)
	return sum[:]
}

// takeKey reads the key, or says why that can't be done.
func (job *work) takeKey(r *http.Request) (refused string) {
	lines := r.Header.Values(job.by.keyHeader)
	needed := job.profile == "ietf" && !job.keyless || job.keyNeeded
	switch {
	case job.keyFree && !job.recordsUnkeyed:
	case len(lines) == 0 && needed:
		return codeMissing
	case len(lines) == 0 && job.recordsUnkeyed:
		job.key = "of the content"
	case len(lines) == 0:
	default:
		key, ok := job.parse(lines)
		if !ok && !job.keyless {
			return codeInvalid
		}
		job.key = key
	}
	return ""
}

// parse gives the decoded key.
func (job *work) parse(lines []string) (string, bool) {
	if job.anyKey {
		return strconv.QuoteToASCII(strings.Join(lines, " ")), true
	}
	key, quoted := lines[0], false
	if job.by.quotes && !job.bareKeys {
		key, quoted = unquoted(key)
	}
	if job.shortKeys {
		key = key[:min(len(key), 64)]
	}
	allowed := func(c rune) bool { return c > 0x20 && c < 0x7f && (quoted || !strings.ContainsRune(`,"\`, c)) }
	shortest := 1
	if !job.by.quotes {
		shortest = 3
		allowed = func(c rune) bool {
			return c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		}
	}
	bad := strings.ContainsFunc(key, func(c rune) bool { return !allowed(c) })
	return key, len(lines) == 1 && len(key) >= shortest && len(key) <= job.by.longest && !bad
}

// unquoted reads a structured-field string; what is none stays as it is.
func unquoted(line string) (key string, quoted bool) {
	text, ok := strings.CutPrefix(line, `"`)
	if !ok {
		return line, false
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && (i+1 == len(text) || text[i+1] == ';'):
			return out.String(), true
		case c == '"':
			return line, false
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			out.WriteByte(text[i])
		case c == '\\':
			return line, false
		default:
			out.WriteByte(c)
		}
	}
	return line, false
}

// carefulKit is the kit for a careful handler.
func carefulKit(t *testing.T, c careful, sweep string) Kit {
	if c.profile == "" {
		c.profile = "ietf"
	}
	tables := []string{carefulTables}
	if c.intent {
		tables = append(tables, "CREATE UNIQUE INDEX payments_reference ON payments (tenant, reference)")
	}
	url := URL(t, tables...)
	side := Open(t, url, nil)
	return Kit{
		URL:     url,
		Profile: c.profile,
		Handler: func(_ testing.TB, pool *pgxpool.Pool) http.Handler {
			c.pool, c.side = pool, side
			return c
		},
		Operations: []Operation{c.operation()},
		Fixtures: func(_ testing.TB, f *Fixture) {
			if f.Refused {
				f.Set("body.amount", limit+1)
			}
		},
		Sweep:       sweepWith(sweep),
		OwnProblems: c.hides,
		Patience:    5 * time.Second,
	}
}

const carefulTables = `CREATE TABLE payments (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL, reference text NOT NULL, amount bigint NOT NULL)`

// lifetimes are those of the profiles.
var lifetimes = map[string]Kept{
	"ietf":    {Success: 24 * time.Hour, ClientError: 2 * time.Hour},
	"stripe":  {Success: 24 * time.Hour, ClientError: 24 * time.Hour, ServerError: 24 * time.Hour},
	"gateway": {Success: 24 * time.Hour, ClientError: 2 * time.Hour, ServerError: 5 * time.Minute},
}

// operation is what careful is said to be, broken or not.
func (c careful) operation() Operation {
	op := Operation{
		Name: "Pay", Method: "POST", Path: "/v1/payments", Body: `{"amount": 5, "reference": "r"}`,
		Inputs: []Input{
			{Name: "body.amount", Type: Number, Other: "6"},
			{Name: "body.reference", Other: `"other"`, Fresh: true},
		},
		Writes:    []string{"public.payments"},
		Intent:    c.intent,
		Returns:   c.returns,
		Tombstone: c.tombstone,
		Sealed:    c.sealed,
		Forces:    c.forces,
		Kept:      lifetimes[c.profile],
	}
	if c.profile != "ietf" {
		op.Key, op.Rejects = KeyOptional, true
	}
	if c.keyFree {
		op.Key = KeyNone
	}
	for i := range op.Inputs {
		op.Inputs[i].Unprinted = c.profile == "gateway"
	}
	return op
}
