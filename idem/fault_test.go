package idem

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// cuttingConn breaks at a message that holds the given text: after the server
// has got it, and before its answer is read.
type cuttingConn struct {
	net.Conn
	cut *cutter
}

type cutter struct {
	armed atomic.Bool
	text  string
	delay time.Duration // of the cut: how far the server may come
	cuts  atomic.Int64
}

func (c *cuttingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil && c.cut.armed.Load() && strings.Contains(string(p), c.cut.text) && c.cut.armed.CompareAndSwap(true, false) {
		c.cut.cuts.Add(1)
		time.Sleep(c.cut.delay) // not to wait for something: to vary what is cut
		_ = c.Close()
	}
	return n, err
}

func cuttingPool(t *testing.T, url string, cut *cutter) *pgxpool.Pool {
	return idemtest.Open(t, url, func(config *pgxpool.Config) {
		config.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			return &cuttingConn{conn, cut}, nil
		}
	})
}

// The connection is cut right after the commit is sent: one effect, and the
// answer is the recorded one, or that of the run that counts.
func TestCase_db_1(t *testing.T) {
	t.Parallel()
	cases := []struct {
		op   *Operation
		text string
	}{
		{charge(), "key-"},
		{transfer("Transfer", ReadCommitted), "COMMIT\x00"},
		{transfer("Strict", Serializable), "COMMIT\x00"},
		{takeJob(), "key-"},
	}
	for _, c := range cases {
		t.Run(string(c.op.Name), func(t *testing.T) {
			cut := &cutter{text: c.text}
			s := openShop(t, cuttingPool(t, idemtest.URL(t, shopTables, "INSERT INTO jobs SELECT FROM generate_series(1, 99)"), cut), c.op)
			for i := range 10 {
				key := "key-" + string(rune('a'+i))
				cut.delay = time.Duration(i%3) * time.Millisecond
				cut.armed.Store(true)
				first := s.post(c.op.Name, key, bodyFor(c.op.Name))
				if first.Code/100 != 2 {
					t.Fatalf("%d %s", first.Code, first.Body)
				}
				again := s.post(c.op.Name, key, bodyFor(c.op.Name))
				if again.Body.String() != first.Body.String() || again.Header().Get(replayedHeader) != "true" {
					t.Errorf("%s, again %s", first.Body, again.Body)
				}
			}
			if cut.cuts.Load() != 10 {
				t.Errorf("%d cuts", cut.cuts.Load())
			}
			effects := `SELECT (SELECT sum(abs(balance - CASE id WHEN 1 THEN 100 ELSE 0 END))::bigint FROM accounts) + (SELECT count(*) FROM jobs WHERE taken)`
			want := int64(10)
			if strings.HasPrefix(c.op.Path, "/v1/transfers") {
				want = 20 // taken from one, given to the other
			}
			if n := s.count(t, effects); n != want {
				t.Errorf("%d effects, want %d", n, want)
			}
		})
	}
}

// The server has lost the prepared statements: poolers do that.
func TestPitfall_22_LostStatementsAreNotAFault(t *testing.T) {
	t.Parallel()
	for _, op := range []*Operation{createPayment("Create", "2000ms", true), transfer("Transfer", ReadCommitted), takeJob()} {
		url := idemtest.URL(t, shopTables, "INSERT INTO jobs SELECT FROM generate_series(1, 9)")
		pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.MaxConns = 1 })
		s := openShop(t, pool, op)
		wantStatus(t, s.post(op.Name, "a", bodyFor(op.Name)), op.Status)
		s.exec(t, "DEALLOCATE ALL")
		w := s.post(op.Name, "a", bodyFor(op.Name))
		if w.Code != op.Status || w.Header().Get(replayedHeader) != "true" {
			t.Errorf("%s: %d %s", op.Name, w.Code, w.Body)
		}
	}
}

// The client gives up, or the operation takes too long: the work goes on, and a
// retry gets its answer.
func TestTheWorkOutlivesTheRequest(t *testing.T) {
	t.Parallel()
	op := charge()
	op.Policy.Timeout = 50 * time.Millisecond
	op.Policy.Wait = 0
	url := idemtest.URL(t, shopTables)
	s := openShop(t, idemtest.Open(t, url, nil), op)
	end := hold(t, s.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	w := s.post("Charge", "k", `{"amount": 1}`)
	wantCode(t, w, 503, "unavailable")
	if w.Header().Get("Retry-After") == "" || w.Header().Get("X-Should-Retry") != "true" {
		t.Errorf("%v", w.Header())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequest(http.MethodPost, "/Charge/1", strings.NewReader(`{"amount": 2}`)).WithContext(gone)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(keyHeader, "other")
	s.mux.ServeHTTP(newRecorder(), r)
	end(false)
	s.work.wait(time.Minute)
	for key, body := range map[string]string{"k": `{"amount": 1}`, "other": `{"amount": 2}`} {
		again := s.post("Charge", key, body)
		if again.Code != 201 || again.Header().Get(replayedHeader) != "true" {
			t.Errorf("%s: %d %s", key, again.Code, again.Body)
		}
	}
}

func TestNoConnectionIs503(t *testing.T) {
	pool := idemtest.Open(t, "postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=1", nil)
	s := openShop(t, pool, createPayment("Create", "2000ms", true), getPayment())
	wantCode(t, s.post("Create", "k", order1), 503, "unavailable")
	wantCode(t, s.call("GetPayment", "GET", "1", ""), 503, "unavailable")
}

// Two operations that lock in opposite order.
func TestCase_db_2(t *testing.T) {
	t.Parallel()
	there, back := transfer("There", ReadCommitted), transfer("Back", ReadCommitted)
	for _, op := range []*Operation{there, back} {
		op.SQL = strings.ReplaceAll(op.SQL, "ORDER BY id FOR UPDATE", "ORDER BY id = $2 FOR UPDATE")
	}
	s := newShop(t, there, back)
	s.exec(t, "UPDATE accounts SET balance = 1000; ALTER DATABASE "+s.pool.Config().ConnConfig.Database+" SET deadlock_timeout = '10ms'")
	s.pool.Reset()
	done := make(chan struct{})
	for i, name := range []Name{"There", "Back"} {
		body := `{"from": 1, "to": 2, "amount": 1}`
		if i == 1 {
			body = `{"from": 2, "to": 1, "amount": 1}`
		}
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 20 {
				if w := s.post(name, "k"+string(rune('a'+n)), body); w.Code != 201 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		}()
	}
	<-done
	<-done
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 1000 {
		t.Errorf("balance %d", n)
	}
}

func TestAServerErrorIsRecordedWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	op := createPayment("Create", "2000ms", true)
	op.Policy.ServerError = time.Minute
	s := newShop(t, op)
	s.exec(t, "ALTER TABLE payments RENAME COLUMN note TO notes")
	first := s.post("Create", "k", order1)
	wantCode(t, first, 500, "internal")
	if first.Header().Get("X-Should-Retry") != "false" {
		t.Errorf("%v", first.Header())
	}
	s.exec(t, "ALTER TABLE payments RENAME COLUMN notes TO note")
	sameAnswer(t, first, s.post("Create", "k", order1))
}
