package idem

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func sameAnswer(t testing.TB, first, again *httptest.ResponseRecorder) {
	t.Helper()
	if first.Code != again.Code || first.Body.String() != again.Body.String() {
		t.Errorf("first %d %s\nagain %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	for _, name := range []string{"Location", "Content-Type", "Idempotency-Key"} {
		if first.Header().Get(name) != again.Header().Get(name) {
			t.Errorf("%s: first %q, again %q", name, first.Header().Get(name), again.Header().Get(name))
		}
	}
	if got := first.Header().Get(replayedHeader) + " " + again.Header().Get(replayedHeader); got != "false true" {
		t.Errorf("replayed: %s", got)
	}
}

func TestCase_replay_1(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("CreatePayment", "2000ms", true))
	first := s.post("CreatePayment", "k", order1)
	wantStatus(t, first, 201)
	if got := first.Header().Get("Location"); got != "/v1/payments/1" {
		t.Errorf("Location %q", got)
	}
	sameAnswer(t, first, s.post("CreatePayment", "k", order1))
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d payments", n)
	}
}

// answering is an operation of each strategy whose SQL answers with the given
// expression.
func answering(expression string) []*Operation {
	fused, verbatim, stepped := createPayment("Odd", patience, true), takeJob(), transfer("Transfer", ReadCommitted)
	fused.SQL = strings.ReplaceAll(fused.SQL, "(SELECT row_to_json(o)::text FROM ("+paymentRow+") o)", expression)
	verbatim.SQL = strings.ReplaceAll(verbatim.SQL, "json_build_object('id', d.id)::text", expression)
	stepped.SQL = strings.ReplaceAll(stepped.SQL, "(SELECT row_to_json(o)::text FROM (SELECT s.id, s.balance) o)", expression)
	stepped.Answer = Answer{Kind: "step", Step: 2}
	return []*Operation{fused, verbatim, stepped}
}

func newOddShop(t *testing.T, ops ...*Operation) *shop {
	t.Helper()
	s := newShop(t, ops...)
	s.exec(t, "INSERT INTO jobs SELECT FROM generate_series(1, 9)")
	return s
}

// reset undoes what the operations did, and forgets the keys.
func (s *shop) reset(t testing.TB) {
	t.Helper()
	s.exec(t, "TRUNCATE payments; UPDATE accounts SET balance = CASE id WHEN 1 THEN 100 ELSE 0 END; UPDATE jobs SET taken = false; DELETE FROM idem.keys")
}

// A result of null, empty list, false or zero is a result like any other.
func TestCase_replay_5(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"null", "[]", "false", "0", `""`, "{}"} {
		ops := answering("'" + value + "'::text")
		s := newOddShop(t, ops...)
		for _, op := range ops {
			t.Run(string(op.Name)+" "+value, func(t *testing.T) {
				first := s.post(op.Name, "k", bodyFor(op.Name))
				wantStatus(t, first, op.Status)
				if first.Body.String() != value {
					t.Errorf("%s", first.Body)
				}
				sameAnswer(t, first, s.post(op.Name, "k", bodyFor(op.Name)))
			})
		}
	}
}

// What steps give where there is no row, or no value, is a result as well.
func TestCase_replay_5_steps_without_rows(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		sql    string
		many   bool
		answer Answer
		want   string
	}{
		"no row":       {"SELECT 'x'::text WHERE $1::bigint IS NULL", false, Answer{Kind: "step", Step: 2}, "null"},
		"SQL NULL":     {"SELECT NULL::text WHERE $1::bigint > 0", false, Answer{Kind: "step", Step: 2}, "null"},
		"no rows":      {"SELECT 'x'::text WHERE $1::bigint IS NULL", true, Answer{Kind: "step", Step: 2}, "[]"},
		"list of NULL": {"SELECT NULL::text WHERE $1::bigint > 0", true, Answer{Kind: "step", Step: 2}, "[null]"},
		"no body":      {"SELECT 'x'::text WHERE $1::bigint > 0", false, Answer{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			op := transfer("Transfer", ReadCommitted)
			op.SQL += "\n-- statement: step.Odd\n" + c.sql + ";\n"
			op.Steps[2] = Step{Name: "Odd", Section: "step.Odd", Many: c.many, Args: op.Steps[2].Args, Results: Results{Row: true}}
			op.Answer = c.answer
			s := newShop(t, op)
			first := s.post("Transfer", "k", bodyFor("Transfer"))
			wantStatus(t, first, 201)
			if first.Body.String() != c.want {
				t.Errorf("%s", first.Body)
			}
			sameAnswer(t, first, s.post("Transfer", "k", bodyFor("Transfer")))
		})
	}
}

// An empty body is stored as such, and replayed; NULL says that the body was not
// stored, and is never taken for an empty one.
func TestCase_replay_5_empty_is_not_a_tombstone(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"''::text": false, "NULL::text": true} {
		ops := answering(name)
		if gone { // steps give JSON, so there the policy says it
			ops[2].Policy.Tombstone = true
		} else {
			ops[2].Answer = Answer{}
		}
		s := newOddShop(t, ops...)
		for _, op := range ops {
			t.Run(string(op.Name)+" "+name, func(t *testing.T) {
				first := s.post(op.Name, "k", bodyFor(op.Name))
				wantStatus(t, first, op.Status)
				stored := s.count(t, "SELECT count(*) FROM idem.keys WHERE operation = 'shop.' || $1 AND body IS NOT DISTINCT FROM "+name, op.Name)
				if stored != 1 {
					t.Error("stored as something else")
				}
				again := s.post(op.Name, "k", bodyFor(op.Name))
				if gone {
					wantCode(t, again, 409, "response-not-stored")
					return
				}
				sameAnswer(t, first, again)
				if again.Body.Len() != 0 {
					t.Errorf("%s", again.Body)
				}
			})
		}
	}
}

func allStrategies() []*Operation {
	return []*Operation{
		createPayment("Waiting", "2000ms", true), createPayment("Rejecting", "", true),
		charge(), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable), transfer("Steady", RepeatableRead),
	}
}

func bodyFor(name Name) string {
	switch name {
	case "Charge":
		return `{"amount": 1}`
	case "TakeJob":
		return ""
	case "Transfer", "Strict", "Steady":
		return `{"from": 1, "to": 2, "amount": 1}`
	}
	return order1
}

func TestEveryStrategyReplaysInEveryMode(t *testing.T) {
	t.Parallel()
	modes := map[string]pgx.QueryExecMode{
		"statement": pgx.QueryExecModeCacheStatement, "describe": pgx.QueryExecModeCacheDescribe,
		"exec": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	}
	for name, mode := range modes {
		url := idemtest.URL(t, shopTables, "INSERT INTO jobs DEFAULT VALUES", "INSERT INTO jobs DEFAULT VALUES")
		pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
		s := openShop(t, pool, allStrategies()...)
		for _, op := range allStrategies() {
			if op.Name == "Rejecting" {
				s.exec(t, "TRUNCATE payments")
			}
			t.Run(name+"/"+string(op.Name), func(t *testing.T) {
				first := s.post(op.Name, "k", bodyFor(op.Name))
				if first.Code/100 != 2 {
					t.Fatalf("%d %s", first.Code, first.Body)
				}
				sameAnswer(t, first, s.post(op.Name, "k", bodyFor(op.Name)))
			})
		}
		if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 96 {
			t.Errorf("%s: balance %d", name, n)
		}
		if n := s.count(t, "SELECT count(*) FROM jobs WHERE taken"); n != 1 {
			t.Errorf("%s: %d jobs taken", name, n)
		}
	}
}

// Isolation is stated, never inherited.
func TestPitfall_20_ADefaultIsolationIsNotInherited(t *testing.T) {
	t.Parallel()
	url := idemtest.URL(t, shopTables, "INSERT INTO jobs DEFAULT VALUES",
		`CREATE FUNCTION level() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN NEW.note := current_setting('transaction_isolation'); RETURN NEW; END $$;
		CREATE TRIGGER level BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION level()`)
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	})
	s := openShop(t, pool, allStrategies()...)
	for _, op := range allStrategies() {
		if op.Name != "Rejecting" {
			wantReplay := s.post(op.Name, "k", bodyFor(op.Name))
			sameAnswer(t, wantReplay, s.post(op.Name, "k", bodyFor(op.Name)))
		}
	}
	var note string
	if err := pool.QueryRow(t.Context(), "SELECT note FROM payments").Scan(&note); err != nil || note != "read committed" {
		t.Errorf("level %q, %v", note, err)
	}
}

func TestAnotherPayloadIsRefused(t *testing.T) {
	s := newShop(t, createPayment("CreatePayment", "2000ms", true))
	wantStatus(t, s.post("CreatePayment", "k", order1), 201)
	again := s.post("CreatePayment", "k", `{"order_id": "o1", "amount": 6}`)
	wantCode(t, again, 422, "key-reused")
	if body := again.Body.String(); !strings.Contains(body, "body") || strings.Contains(body, "o1") {
		t.Errorf("names the part, not the value: %s", body)
	}
	if again.Header().Get("X-Should-Retry") != "false" {
		t.Error("a permanent answer")
	}
}

func TestRecordsExpireByTheDatabaseClock(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{createPayment("Create", "2000ms", true), takeJob(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable)} {
		s := newShop(t, op)
		s.exec(t, "INSERT INTO jobs SELECT FROM generate_series(1, 5)")
		first := s.post(op.Name, "k", bodyFor(op.Name))
		s.exec(t, "UPDATE idem.keys SET expires_at = clock_timestamp() - interval '1 s'")
		s.exec(t, "DELETE FROM payments")
		again := s.post(op.Name, "k", bodyFor(op.Name))
		if first.Code != again.Code || again.Header().Get(replayedHeader) != "false" || first.Body.String() == again.Body.String() {
			t.Errorf("%s: %d %s, then %d %s", op.Name, first.Code, first.Body, again.Code, again.Body)
		}
		if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 1 {
			t.Errorf("%s: %d records", op.Name, n)
		}
	}
}

// A body above the limit: the first client gets all of it, a retry never runs it
// again, and gets the Location. At the limit it is stored.
func TestCase_replay_4(t *testing.T) {
	t.Parallel()
	for size, gone := range map[int]bool{storeLimit: false, storeLimit + 1: true} {
		ops := answering(fmt.Sprintf("('\"' || repeat('ü', %d) || repeat('x', %d) || '\"')", storeLimit/2-9, size-2-2*(storeLimit/2-9)))
		s := newOddShop(t, ops...)
		for _, op := range ops {
			t.Run(fmt.Sprint(op.Name, " ", size), func(t *testing.T) {
				first := s.post(op.Name, "k", bodyFor(op.Name))
				wantStatus(t, first, op.Status)
				if first.Body.Len() != size {
					t.Errorf("the first caller got %d bytes", first.Body.Len())
				}
				before, again := s.count(t, allEffects), s.post(op.Name, "k", bodyFor(op.Name))
				if gone {
					wantCode(t, again, 409, "response-not-stored")
				} else {
					sameAnswer(t, first, again)
				}
				if again.Header().Get("Location") != first.Header().Get("Location") {
					t.Errorf("Location %q", again.Header().Get("Location"))
				}
				if n := s.count(t, allEffects); n != before {
					t.Errorf("%d effects, then %d", before, n)
				}
			})
		}
	}
}

func TestOptionalKeyAndReads(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", false), getPayment())
	w := s.post("Create", "", order1)
	wantStatus(t, w, 201)
	if w.Header().Get(replayedHeader) != "" {
		t.Error("unprotected, yet marked")
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
		t.Errorf("%d records", n)
	}
	wantStatus(t, s.call("GetPayment", http.MethodGet, "1", ""), 200)
	wantCode(t, s.call("GetPayment", http.MethodGet, "9", ""), 404, "not_found")
	head := s.call("GetPayment", http.MethodHead, "1", "")
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d, %d bytes", head.Code, head.Body.Len())
	}
	wantCode(t, s.call("GetPayment", http.MethodPut, "1", ""), 405, "method-not-allowed")
}

// 100 clients replay one key at once: identical bytes.
func TestCase_replay_3(t *testing.T) {
	t.Parallel()
	s := newOddShop(t, allStrategies()...)
	for _, op := range allStrategies() {
		s.exec(t, "TRUNCATE payments")
		first := s.post(op.Name, "k", bodyFor(op.Name))
		for _, w := range together([]*shop{s}, 100, func(s *shop) *httptest.ResponseRecorder { return s.post(op.Name, "k", bodyFor(op.Name)) }) {
			sameAnswer(t, first, w)
		}
	}
}

// unfit are headers of one connection or one client, or the runtime's own.
var unfit = strings.Fields(`Set-Cookie Transfer-Encoding Www-Authenticate Authorization Date Connection Keep-Alive
	Proxy-Authenticate Proxy-Authorization Proxy-Connection Te Trailer Upgrade Content-Length
	Idempotency-Key Idempotent-Replayed X-Should-Retry Retry-After`)

// They are never stored nor replayed, even where an operation lists them.
func TestCase_replay_2(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, name := range unfit {
		listed = append(listed, "'"+strings.ToLower(name)+"', 'never'")
	}
	op := transfer("Transfer", ReadCommitted)
	op.SQL = strings.ReplaceAll(op.SQL, "jsonb_build_object('Location'", "jsonb_build_object("+strings.Join(listed, ", ")+", 'Location'")
	s := newShop(t, op)
	first := s.post("Transfer", "k", bodyFor("Transfer"))
	wantStatus(t, first, 201)
	sameAnswer(t, first, s.post("Transfer", "k", bodyFor("Transfer")))
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE headers = '{\"Location\": \"/v1/accounts/2\"}'"); n != 1 {
		t.Error("something else is stored")
	}
	header := http.Header{"Location": {"/x"}}
	for _, name := range unfit {
		header[name] = []string{"never"}
	}
	for range 2 {
		_, meta, err := Do(t.Context(), s.pool, doRequest("k", ""), func(context.Context, Tx) (Response, error) { return Response{Header: header}, nil })
		if err != nil || len(meta.Header) != 1 || meta.Header.Get("Location") != "/x" {
			t.Errorf("%+v %v", meta, err)
		}
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE headers::text ILIKE '%never%'"); n != 0 {
		t.Error("stored")
	}
}
