package idem

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/jackc/pgx/v5/pgxpool"
)

func aead(t testing.TB, key byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(bytes.Repeat([]byte{key}, 32))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return sealer
}

// sealed is a transfer whose records are sealed.
func sealed(name Name, isolation Isolation) *Operation {
	op := transfer(name, isolation)
	op.Policy.Sealed = true
	return op
}

func sealedShop(t *testing.T, pool *pgxpool.Pool, opts Options, ops ...*Operation) *shop {
	t.Helper()
	service, err := New(pool, shopConfig(ops...), shopCaller, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, pool, http.NewServeMux()}
	for _, op := range ops {
		s.mux.Handle("/"+string(op.Name)+"/{id}", service.Handler(op.Name))
	}
	return s
}

func (s *shop) text(t *testing.T, sql string, args ...any) string {
	t.Helper()
	var text string
	if err := s.pool.QueryRow(t.Context(), sql, args...).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

const (
	move   = `{"from": 1, "to": 2, "amount": 10}`
	tooFar = `{"from": 1, "to": 2, "amount": 1000}`
)

// wantReplay asserts that w is the replay of first: status, body, headers.
func wantReplay(t *testing.T, first, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != first.Code || w.Body.String() != first.Body.String() || w.Header().Get(replayedHeader) != "true" {
		t.Errorf("%d %s %v, first %d %s", w.Code, w.Body, w.Header(), first.Code, first.Body)
	}
	for _, name := range []string{"Location", "Content-Type", sealedHeader} {
		if got, want := w.Header().Get(name), first.Header().Get(name); got != want {
			t.Errorf("%s: %q, first %q", name, got, want)
		}
	}
}

// A row holds nothing of the body in clear, and replays byte for byte: successes
// and client errors, at every isolation level.
func TestSealedRecords(t *testing.T) {
	t.Parallel()
	for _, isolation := range []Isolation{ReadCommitted, Serializable} {
		s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: aead(t, 1)}, sealed("Transfer", isolation))
		for key, c := range map[string]struct {
			body   string
			status int
			clear  []string
		}{
			"k1": {move, 201, []string{"balance", `"to"`}},
			"k2": {tooFar, 402, []string{"insufficient_funds", "title"}},
		} {
			first := s.post("Transfer", key, c.body)
			wantStatus(t, first, c.status)
			if first.Header().Get(sealedHeader) != "" || first.Header()[sealedHeader] != nil {
				t.Error("the marker is sent")
			}
			wantReplay(t, first, s.post("Transfer", key, c.body))
			row := s.text(t, "SELECT k::text FROM idem.keys k WHERE key = $1", key)
			if !strings.Contains(row, `:sealed`) {
				t.Errorf("not marked: %s", row)
			}
			for _, word := range c.clear {
				if !strings.Contains(first.Body.String(), word) || strings.Contains(row, word) {
					t.Errorf("%s in %s, answered with %s", word, row, first.Body)
				}
			}
		}
		if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 90 {
			t.Errorf("balance %d", n)
		}
	}
}

// Two answers alike are never sealed alike: each has a nonce of its own.
func TestSealedRecordsHaveFreshNonces(t *testing.T) {
	t.Parallel()
	s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: aead(t, 1)}, sealed("Transfer", ReadCommitted))
	inv := newInvocation(s.operations["Transfer"], s.pools.all[0], "t1")
	inv.protect("k1")
	seen := map[string]bool{}
	for range 1000 {
		text, err := s.sealBody(inv, 201, []byte("the same"))
		if err != nil {
			t.Fatal(err)
		}
		nonce, err := sealedText.DecodeString(string(text))
		if err != nil || seen[string(nonce[:s.aead.NonceSize()])] {
			t.Fatalf("%x again, or %v", nonce, err)
		}
		seen[string(nonce[:s.aead.NonceSize()])] = true
	}
}

// A record that was tampered with, or moved to another row, does not open: 409
// and a log line, and the operation does not run again.
func TestSealedRecordsThatDoNotOpen(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, shopTables)
	for name, sql := range map[string]string{
		"tampered":         `UPDATE idem.keys SET body = overlay(body PLACING CASE WHEN substr(body, 30, 1) = 'A' THEN 'B' ELSE 'A' END FROM 30) WHERE key = 'k1'`,
		"cut":              `UPDATE idem.keys SET body = 'AAAA' WHERE key = 'k1'`,
		"no base64":        `UPDATE idem.keys SET body = '!' || body WHERE key = 'k1'`,
		"of another key":   `UPDATE idem.keys SET body = (SELECT body FROM idem.keys WHERE key = 'k2' AND scope = 't1') WHERE key = 'k1'`,
		"of another scope": `UPDATE idem.keys SET scope = 't9' WHERE key = 'k1' AND scope = 't1'; UPDATE idem.keys SET scope = 't1' WHERE key = 'k1' AND scope = 't2'`,
		"another status":   `UPDATE idem.keys SET status = 200 WHERE key = 'k1'`,
		"another version":  `UPDATE idem.keys SET headers = headers || '{":sealed": "2"}' WHERE key = 'k1'`,
	} {
		t.Run(name, func(t *testing.T) {
			var logged logLines
			s := sealedShop(t, pool, Options{Seal: aead(t, 1), Logger: logged.logger()}, sealed("Transfer", ReadCommitted))
			s.reset(t)
			for _, tenant := range []string{"t1", "t2"} {
				for _, key := range []string{"k1", "k2"} {
					wantStatus(t, s.post("Transfer", key, move, "X-Tenant", tenant), 201)
				}
			}
			s.exec(t, sql)
			logged.take()
			w := s.post("Transfer", "k1", move)
			wantCode(t, w, 409, "response-not-stored")
			if got := w.Header().Get("Location"); got != "/v1/accounts/2" {
				t.Errorf("Location %q", got)
			}
			if text := logged.take(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "the stored response can't be opened") || strings.Contains(text, "k1") {
				t.Errorf("log: %s", text)
			}
			if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 60 {
				t.Errorf("balance %d", n)
			}
		})
	}
}

// A policy may change under records: those in clear still replay where bodies are
// sealed now, and sealed ones open where they are not any more, by any strategy.
func TestSealedRecordsOutliveTheirPolicy(t *testing.T) {
	t.Parallel()
	s := newShop(t, transfer("Transfer", ReadCommitted))
	clear := s.post("Transfer", "k1", move)
	s = sealedShop(t, s.pool, Options{Seal: aead(t, 1)}, sealed("Transfer", ReadCommitted))
	wantReplay(t, clear, s.post("Transfer", "k1", move))
	closed := s.post("Transfer", "k2", move)

	s = sealedShop(t, s.pool, Options{Seal: aead(t, 1)}, transfer("Transfer", ReadCommitted))
	wantReplay(t, closed, s.post("Transfer", "k2", move))
	s = sealedShop(t, s.pool, Options{Seal: aead(t, 2)}, transfer("Transfer", ReadCommitted))
	wantCode(t, s.post("Transfer", "k2", move), 409, "response-not-stored")
	s = openShop(t, s.pool, transfer("Transfer", ReadCommitted))
	wantCode(t, s.post("Transfer", "k2", move), 409, "response-not-stored")
}

// One statement reads a sealed record, too.
func TestSealedRecordMetByOneStatement(t *testing.T) {
	t.Parallel()
	s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: aead(t, 1)}, createPayment("Create", "2000ms", true), takeJob())
	for name, body := range map[Name]string{"Create": order1, "TakeJob": ""} {
		first := s.post(name, "k1", body)
		inv := newInvocation(s.operations[name], s.pools.all[0], "t1")
		inv.protect("k1")
		text, err := s.sealBody(inv, first.Code, first.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		s.exec(t, `UPDATE idem.keys SET body = $2, headers = coalesce(headers, '{}') || '{":sealed": "1"}' WHERE operation = $1`, "shop."+string(name), string(text))
		wantReplay(t, first, s.post(name, "k1", body))
	}
}

func TestSealedDo(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	request := Request{Scope: "s", Operation: "shop.Redeem", Key: "k1", Seal: aead(t, 1), Policy: Policy{Sealed: true}}
	handler := once(t, "a secret answer")
	for range 2 {
		got, _, err := Do(t.Context(), pool, request, handler)
		if err != nil || string(got.Body) != "a secret answer" {
			t.Errorf("%s %v", got.Body, err)
		}
	}
	s := &shop{pool: pool}
	if row := s.text(t, "SELECT k::text FROM idem.keys k"); strings.Contains(row, "secret") {
		t.Error(row)
	}
	request.Seal = nil
	if _, _, err := Do(t.Context(), pool, request, once(t, "")); err == nil || !strings.Contains(err.Error(), "Request.Seal is nil") {
		t.Error(err)
	}
}

func TestNewNeedsASeal(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	_, err := New(pool, shopConfig(sealed("Transfer", ReadCommitted)), shopCaller, Options{})
	if err == nil || !strings.Contains(err.Error(), "operation Transfer has record=sealed, but Options.Seal is nil") {
		t.Error(err)
	}
	op := createPayment("Create", "2000ms", true)
	op.Policy.Sealed = true
	_, err = New(pool, shopConfig(op), shopCaller, Options{Seal: aead(t, 1)})
	if err == nil || !strings.Contains(err.Error(), "operation Create has record=sealed and is fused") {
		t.Error(err)
	}
}

// jammed is an AEAD that fails the hard way.
type jammed struct{ cipher.AEAD }

func (jammed) Seal(_, _, _, _ []byte) []byte          { panic("no key today") }
func (jammed) Open(_, _, _, _ []byte) ([]byte, error) { panic("no key today") }

// An AEAD that panics: the first caller has the answer, nothing is kept in
// clear, and a retry is told so.
func TestSealThatPanics(t *testing.T) {
	t.Parallel()
	var logged logLines
	s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: jammed{aead(t, 1)}, Logger: logged.logger()}, sealed("Transfer", ReadCommitted))
	wantStatus(t, s.post("Transfer", "k1", move), 201)
	wantCode(t, s.post("Transfer", "k1", move), 409, "response-not-stored")
	if text := logged.take(); !strings.Contains(text, "the response can't be sealed, and is not stored") || !strings.Contains(text, "no key today") {
		t.Error(text)
	}
	if n := s.count(t, "SELECT count(*) FROM idem.keys WHERE body IS NULL"); n != 1 {
		t.Errorf("%d tombstones", n)
	}
}

// An AEAD that makes its own nonces works as well.
func TestSealWithItsOwnNonces(t *testing.T) {
	t.Parallel()
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	own, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: own}, sealed("Transfer", ReadCommitted))
	first := s.post("Transfer", "k1", move)
	wantStatus(t, first, 201)
	wantReplay(t, first, s.post("Transfer", "k1", move))
}

// rotated seals with its newer key, and opens with either.
type rotated struct {
	cipher.AEAD
	older cipher.AEAD
}

func (r rotated) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	if opened, err := r.AEAD.Open(dst, nonce, ciphertext, additionalData); err == nil {
		return opened, nil
	}
	return r.older.Open(dst, nonce, ciphertext, additionalData)
}

func TestSealWithRotatedKeys(t *testing.T) {
	t.Parallel()
	older, newer := aead(t, 1), aead(t, 2)
	s := sealedShop(t, idemtest.Pool(t, shopTables), Options{Seal: older}, sealed("Transfer", ReadCommitted))
	first := s.post("Transfer", "k1", move)
	s = sealedShop(t, s.pool, Options{Seal: rotated{newer, older}}, sealed("Transfer", ReadCommitted))
	wantReplay(t, first, s.post("Transfer", "k1", move))
	second := s.post("Transfer", "k2", move)
	s = sealedShop(t, s.pool, Options{Seal: newer}, sealed("Transfer", ReadCommitted))
	wantReplay(t, second, s.post("Transfer", "k2", move))
	wantCode(t, s.post("Transfer", "k1", move), 409, "response-not-stored")
}

// Above the limit there is a tombstone, as without a seal.
func TestSealedOversizeIsATombstone(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t)
	for i, size := range []int{storeLimit, storeLimit + 1} {
		request := Request{Scope: "s", Operation: "shop.Redeem", Key: fmt.Sprint("k", i), Seal: aead(t, 1), Policy: Policy{Sealed: true}}
		handler := once(t, strings.Repeat("x", size))
		if _, _, err := Do(t.Context(), pool, request, handler); err != nil {
			t.Fatal(err)
		}
		got, _, err := Do(t.Context(), pool, request, handler)
		if kept := err == nil && len(got.Body) == size; kept != (i == 0) || CodeOf(err) != map[bool]string{true: "", false: "response-not-stored"}[kept] {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// once is a handler that fails the test if it runs again.
func once(t *testing.T, body string) func(context.Context, Tx) (Response, error) {
	ran := false
	return func(context.Context, Tx) (Response, error) {
		if ran {
			t.Error("it ran twice")
		}
		ran = true
		return Response{Body: []byte(body)}, nil
	}
}
