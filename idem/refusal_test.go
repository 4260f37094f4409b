package idem

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Another client's key is another key: its own execution, and nothing leaks.
func TestCase_scope_1(t *testing.T) {
	t.Parallel()
	s := newOddShop(t, allStrategies()...)
	for _, op := range allStrategies() {
		s.exec(t, "TRUNCATE payments")
		first := s.post(op.Name, "k", bodyFor(op.Name), "X-Tenant", "t1")
		other := s.post(op.Name, "k", bodyFor(op.Name), "X-Tenant", "t2")
		wantStatus(t, first, op.Status)
		wantStatus(t, other, op.Status)
		if other.Header().Get(replayedHeader) != "false" || first.Body.String() == other.Body.String() {
			t.Errorf("%s leaked: %s", op.Name, other.Body)
		}
	}
}

// Another client takes the key first, with other contents, and runs still, is
// done, or was refused: no influence.
func TestCase_scope_2(t *testing.T) {
	t.Parallel()
	s := newOddShop(t, allStrategies()...)
	for _, op := range allStrategies() {
		for _, slot := range []string{"201", "422"} {
			t.Run(string(op.Name)+" "+slot, func(t *testing.T) {
				s.reset(t)
				theirs := strings.NewReplacer("'t1'", "'t2'", "201", slot).Replace(winner)
				end := hold(t, s.pool, theirs, digestFor(string(op.Name)))
				wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name), "X-Tenant", "t1"), op.Status)
				end(true)
				wantStatus(t, s.post(op.Name, "k", bodyFor(op.Name), "X-Tenant", "t3"), op.Status)
			})
		}
	}
}

// A service without a caller function refuses to start.
func TestCase_scope_3(t *testing.T) {
	pool := idemtest.Pool(t)
	if _, err := New(pool, shopConfig(), nil, Options{}); err == nil || !strings.Contains(err.Error(), "caller function") {
		t.Errorf("no caller function: %v", err)
	}
	if _, err := New(nil, shopConfig(), shopCaller, Options{}); err == nil {
		t.Error("no pool")
	}
	broken := createPayment("Create", "2000ms", true)
	broken.SQL = "-- statement: other\nSELECT 1"
	if _, err := New(pool, shopConfig(broken), shopCaller, Options{}); err == nil || !strings.Contains(err.Error(), `"existing"`) {
		t.Errorf("a missing section: %v", err)
	}
}

func TestWhoSendsIsAskedFirst(t *testing.T) {
	s := newShop(t, createPayment("Create", "2000ms", true))
	wantCode(t, s.post("Create", "k", "{", "X-Tenant", "nobody"), 401, "unauthenticated")
	wantCode(t, s.post("Create", "k", "{", "X-Tenant", strings.Repeat("x", 256)), 401, "unauthenticated")
	wantCode(t, s.call("Create", "POST", "1", order1, "X-Tenant", "t"), 400, "key-missing")
}

func TestForms(t *testing.T) {
	t.Parallel()
	small := createPayment("Small", "2000ms", true)
	small.Policy.MaxBody = 100
	s := newShop(t, small)
	wantCode(t, s.call("Small", "POST", "1", "", keyHeader, "k"), 400, "body-missing")
	wantCode(t, s.post("Small", "k", `{"order_id": "`+strings.Repeat("x", 100)+`"}`), 413, "body-too-large")
	r := s.call("Small", "POST", "1", order1, keyHeader, "k", "Content-Encoding", "gzip")
	wantCode(t, r, 415, "media-type")
	for media, status := range map[string]int{
		"text/plain": 415, "": 415, "application/json; charset=latin1": 415, "application/xml": 415,
		"application/json; charset=UTF-8": 201, "application/vnd.x+json": 201,
	} {
		w := s.mediaPost(media)
		if w != status {
			t.Errorf("%q: %d, want %d", media, w, status)
		}
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 1 {
		t.Errorf("%d records", n)
	}
}

func (s *shop) mediaPost(media string) int {
	r, _ := http.NewRequest(http.MethodPost, "/Small/1", strings.NewReader(order1))
	r.Header.Set(keyHeader, "k")
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	w := newRecorder()
	s.mux.ServeHTTP(w, r)
	return w.Code
}

// A client error is recorded, its writes are undone.
func TestCase_store_2(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true), charge(), transfer("Transfer", ReadCommitted), transfer("Strict", Serializable))
	cases := []struct {
		name Name
		body string
		code int
		word string
	}{
		{"Create", `{"order_id": "o", "amount": -1}`, 422, "amount_not_positive"}, // @error
		{"Charge", `{"amount": 1000}`, 409, "insufficient_funds"},                 // @empty
		{"Charge", `{"amount": 95}`, 409, "too_large"},                            // @require in one statement
		{"Transfer", `{"from": 1, "to": 2, "amount": 1000}`, 402, "insufficient_funds"},
		{"Transfer", `{"from": 1, "to": 3, "amount": 1}`, 404, "no_such_account"},
		{"Strict", `{"from": 1, "to": 2, "amount": 1000}`, 402, "insufficient_funds"},
	}
	for i, c := range cases {
		key := string(rune('a' + i))
		first := s.post(c.name, key, c.body)
		wantCode(t, first, c.code, c.word)
		if first.Header().Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %v", c.word, first.Header())
		}
		s.exec(t, "UPDATE accounts SET balance = 5000 WHERE id = 1")
		sameAnswer(t, first, s.post(c.name, key, c.body))
		s.exec(t, "UPDATE accounts SET balance = 100 WHERE id = 1")
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE status >= 400"); n != int64(len(cases)) {
		t.Errorf("%d records", n)
	}
	if n := s.count(t, "SELECT (SELECT count(*) FROM payments) + (SELECT sum(balance)::bigint FROM accounts)"); n != 100 {
		t.Errorf("effects: %d", n)
	}
}

// failWith makes every INSERT into payments fail with a SQLSTATE.
func (s *shop) failWith(t *testing.T, state string) {
	s.exec(t, `CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = TG_ARGV[0]; END $$`)
	s.exec(t, "DROP TRIGGER IF EXISTS fail ON payments; CREATE TRIGGER fail BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION fail('"+state+"')")
}

// What is not a definite answer is not stored.
func TestCase_store_1(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	for state, want := range map[string]int{"XX000": 500, "57P03": 503, "25006": 503} {
		s.failWith(t, state)
		w := s.post("Create", "k", order1)
		if w.Code != want || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", state, w.Code, w.Body)
		}
	}
	s.exec(t, "DROP TRIGGER fail ON payments")
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 0 {
		t.Errorf("%d records", n)
	}
	wantStatus(t, s.post("Create", "k", order1), 201)
}

// Pitfall 2: "told 422, debited later". An answer that says not to try again is
// recorded, declared or not: rows may have decided, and they change.
func TestPitfall_2_DefiniteAnswersLeaveARecord(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	for state, want := range map[string]int{
		"22P02": 422, "2201W": 422, "22003": 422, "22012": 422, "21000": 422, "P0001": 422, // values
		"IDM02": 422,
	} {
		s.failWith(t, state)
		first := s.post("Create", "k"+state, order1)
		if first.Code != want || strings.Contains(first.Body.String(), "secret") {
			t.Errorf("%s: %d %s", state, first.Code, first.Body)
		}
		s.exec(t, "DROP TRIGGER fail ON payments")
		if late := s.post("Create", "k"+state, order1); late.Code != want || late.Body.String() != first.Body.String() {
			t.Errorf("%s, a late attempt: %d %s", state, late.Code, late.Body)
		}
	}
	s.exec(t, "ALTER TABLE payments ADD CONSTRAINT small CHECK (amount < 2)")
	wantStatus(t, s.post("Create", "checked", order1), 422)
	s.exec(t, "ALTER TABLE payments DROP CONSTRAINT small")
	wantStatus(t, s.post("Create", "checked", order1), 422)
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 0 {
		t.Errorf("%d payments", n)
	}
}

// A login that is refused was no attempt: 503, whatever SQLSTATE says why, and
// the log says it.
func TestARefusedLoginIsUnavailable(t *testing.T) {
	admin := idemtest.Pool(t, shopTables)
	for _, refuse := range []string{"NOLOGIN", "LOGIN PASSWORD 'another'"} {
		role := fmt.Sprintf("lodger_%x", rand.Uint64())
		setUp := fmt.Sprintf("CREATE ROLE %s SUPERUSER LOGIN PASSWORD 'first'", role)
		if _, err := admin.Exec(t.Context(), setUp); err != nil {
			t.Fatal(err)
		}
		config := admin.Config()
		config.ConnConfig.User, config.ConnConfig.Password = role, "first"
		config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
			_, err := admin.Exec(t.Context(), "ALTER ROLE "+role+" "+refuse)
			return err
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		service, err := New(pool, shopConfig(createPayment("Create", "2000ms", true), getPayment()), shopCaller,
			Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for name, body := range map[Name]string{"Create": order1, getPayment().Name: ""} {
			r := httptest.NewRequest(service.Operation(name).Method, "/", strings.NewReader(body))
			r.SetPathValue("id", "1")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(keyHeader, "k")
			w := httptest.NewRecorder()
			service.Handler(name).ServeHTTP(w, r)
			wantCode(t, w, 503, "unavailable")
		}
		if !strings.Contains(log.String(), "operation unavailable") || strings.Contains(log.String(), "order_id") {
			t.Errorf("log: %s", &log)
		}
		pool.Close()
		if _, err := admin.Exec(t.Context(), "DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	}
}

// Serialization failures are retried, up to five times.
func TestSerializationFailuresAreRetried(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	s.exec(t, `CREATE SEQUENCE seen; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF nextval('seen') <= TG_ARGV[0]::int THEN RAISE EXCEPTION '' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION fail('5')`)
	wantStatus(t, s.post("Create", "k", order1), 201)
	s.exec(t, `SELECT setval('seen', 1, false); DROP TRIGGER fail ON payments;
		CREATE TRIGGER fail BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION fail('6')`)
	w := s.post("Create", "k2", `{"order_id": "o2", "amount": 5}`)
	wantCode(t, w, 503, "unavailable")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestIntentConflict(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	first := s.post("Create", "a", order1)
	w := s.post("Create", "b", `{"order_id": "o1", "amount": 7}`)
	wantCode(t, w, 409, "intent-conflict")
	if !strings.Contains(w.Body.String(), `"existing":`+first.Body.String()) {
		t.Errorf("existing: %s", w.Body)
	}
	s.exec(t, "DELETE FROM payments")
	sameAnswer(t, w, s.post("Create", "b", `{"order_id": "o1", "amount": 7}`))
	wantStatus(t, s.post("Create", "c", `{"order_id": "o1", "amount": 7}`), 201)
}

// The look-up of the row that is there changes nothing: a connection that breaks
// at it is no reason to give up.
func TestIntentConflictWhoseLookUpIsCut(t *testing.T) {
	t.Parallel()
	cut := &cutter{text: "d.amount = $3::bigint"}
	s := openShop(t, cuttingPool(t, idemtest.URL(t, shopTables), cut), createPayment("Create", "2000ms", true))
	first := s.post("Create", "a", order1)
	cut.armed.Store(true)
	w := s.post("Create", "b", order1)
	wantCode(t, w, 409, "intent-conflict")
	if !strings.Contains(w.Body.String(), `"existing":`+first.Body.String()) || cut.cuts.Load() != 1 {
		t.Errorf("%d cuts, existing: %s", cut.cuts.Load(), w.Body)
	}
}

func TestIntentReturn(t *testing.T) {
	t.Parallel()
	op := createPayment("Create", "2000ms", true)
	op.Steps[0].Intent.Return = true
	op.Steps[0].Intent.Args = fieldArgs(3, 0, 1)
	s := newShop(t, op)
	first := s.post("Create", "a", order1)
	again := s.post("Create", "b", order1)
	wantStatus(t, again, 201)
	if again.Body.String() != first.Body.String() || again.Header().Get(replayedHeader) != "true" {
		t.Errorf("%v %s", again.Header(), again.Body)
	}
	wantCode(t, s.post("Create", "c", `{"order_id": "o1", "amount": 7}`), 409, "intent-conflict")
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 3 {
		t.Errorf("%d records", n)
	}
}

// Constraint names of partitions are their own.
func TestPitfall_23_IntentOnAPartition(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	s.exec(t, `DROP TABLE payments; CREATE TABLE payments (
		id bigint GENERATED BY DEFAULT AS IDENTITY, tenant_id text NOT NULL, order_id text NOT NULL, amount bigint NOT NULL,
		note text, status text DEFAULT 'authorized', CONSTRAINT payments_order UNIQUE (tenant_id, order_id)
	) PARTITION BY HASH (tenant_id);
	CREATE TABLE p0 (id bigint NOT NULL, tenant_id text NOT NULL, order_id text NOT NULL, amount bigint NOT NULL, note text, status text);
	ALTER TABLE payments ATTACH PARTITION p0 FOR VALUES WITH (MODULUS 1, REMAINDER 0)`)
	wantStatus(t, s.post("Create", "a", order1), 201)
	wantCode(t, s.post("Create", "b", order1), 409, "intent-conflict")
}

// Without a declaration, a violation is a client error, recorded like any other.
func TestUndeclaredViolations(t *testing.T) {
	t.Parallel()
	s := newShop(t, createPayment("Create", "2000ms", true))
	s.exec(t, `CREATE UNIQUE INDEX one_note ON payments (note);
		ALTER TABLE payments ADD CONSTRAINT short CHECK (length(order_id) < 5);
		CREATE TABLE notes (n text PRIMARY KEY); INSERT INTO notes VALUES ('n');
		ALTER TABLE payments ADD FOREIGN KEY (note) REFERENCES notes`)
	wantStatus(t, s.post("Create", "a", `{"order_id": "1", "amount": 5, "note": "n"}`), 201)
	wantCode(t, s.post("Create", "b", `{"order_id": "2", "amount": 5, "note": "n"}`), 409, "already-exists")
	wantCode(t, s.post("Create", "c", `{"order_id": "3", "amount": 5, "note": "m"}`), 422, "reference-not-found")
	wantCode(t, s.post("Create", "d", `{"order_id": "12345", "amount": 5}`), 422, "invalid-value")
	if n := s.count(t, "SELECT count(*) FROM idem.keys"); n != 4 {
		t.Errorf("%d records", n)
	}
}

// A check made stricter by a deploy does not hide what was done.
func TestACheckDoesNotHideARecord(t *testing.T) {
	t.Parallel()
	op := createPayment("Create", "2000ms", true)
	s := newShop(t, op)
	first := s.post("Create", "k", order1)
	strict := createPayment("Create", "2000ms", true)
	strict.Fields = append([]Field{}, paymentFields...)
	strict.Fields[1].Checks = []Check{{Op: CheckMin, Value: "10"}}
	s = openShop(t, s.pool, strict)
	sameAnswer(t, first, s.post("Create", "k", order1))
	wantStatus(t, s.post("Create", "other", order1), 422)
}

// Where the record can't be looked up, a stricter check says nothing about what
// was done: the client may come again.
func TestACheckIsNoAnswerWithoutALookUp(t *testing.T) {
	strict := createPayment("Create", patience, true)
	strict.Fields = append([]Field{}, paymentFields...)
	strict.Fields[1].Checks = []Check{{Op: CheckMin, Value: "10"}}
	pool := idemtest.Open(t, "postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=1", nil)
	wantCode(t, openShop(t, pool, strict).post("Create", "k", order1), 503, "unavailable")
}
