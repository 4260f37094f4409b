package idem

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// halfClosed sends a request over a connection on which nothing more will come,
// and gives the answer.
func halfClosed(t *testing.T, address, key, body string) (status int, header http.Header, text string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /Charge/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nIdempotency-Key: %s\r\n\r\n%s", len(body), key, body)
	if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	w, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	read, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, w.Header, string(read)
}

// net/http cancels the context of a client that sends no more, and still reads.
func TestAClientThatOnlyReadsIsAnswered(t *testing.T) {
	t.Parallel()
	s := newShop(t, charge())
	server := httptest.NewServer(s.mux)
	defer server.Close()
	end := hold(t, s.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	left := make(chan struct{})
	watched := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(left) })
		s.mux.ServeHTTP(w, r)
	})
	server.Config.Handler = watched
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		awaitBlocked(t, s)
		<-left // net/http has seen it by now
		end(false)
	}()
	status, _, first := halfClosed(t, server.Listener.Addr().String(), "k", `{"amount": 1}`)
	if status != 201 || first != `{"id":1,"balance":99}` {
		t.Errorf("%d %s", status, first)
	}
	<-freed
	server.Config.Handler = s.mux
	status, header, text := halfClosed(t, server.Listener.Addr().String(), "k", `{"amount": 1}`)
	if status != 201 || text != first || header.Get(replayedHeader) != "true" {
		t.Errorf("again %d %s", status, text)
	}
}

// A request is given up where its deadline passes: 503, not an empty 200.
func TestADeadlineOfTheRequestIs503(t *testing.T) {
	s := newShop(t, charge())
	end := hold(t, s.pool, "SELECT FROM accounts WHERE id = 1 FOR UPDATE")
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	r := httptest.NewRequestWithContext(past, http.MethodPost, "/Charge/1", strings.NewReader(`{"amount": 1}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(keyHeader, "k")
	w := newRecorder()
	s.mux.ServeHTTP(w, r)
	wantCode(t, w, 503, "unavailable")
	if w.Header().Get(retryAfterHeader) == "" {
		t.Errorf("%v", w.Header())
	}
	_, err := s.Call(past, "Charge", []any{"t1"}, "k2", []any{int64(1), int64(1)}, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("from Go: %v", err)
	}
	end(false)
	s.work.wait(time.Minute)
	if n := s.count(t, "SELECT balance FROM accounts WHERE id = 1"); n != 98 {
		t.Errorf("balance %d", n)
	}
}

// ender gives a context that has ended.
type ender struct{ *witness }

func (e ender) OperationStarted(ctx context.Context, start OperationStart) context.Context {
	ctx, cancel := context.WithCancel(e.witness.OperationStarted(ctx, start))
	cancel()
	return ctx
}

func TestAnObserverEndsNoRequest(t *testing.T) {
	t.Parallel()
	seen := newWitness()
	s, _ := watchedShop(t, idemtest.Pool(t, shopTables), Options{Observer: ender{seen}}, charge())
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	if end, _ := seen.take(t); end.Event != EventNew || end.Abandoned || end.Code != "" {
		t.Errorf("%+v", end)
	}
	if _, err := s.Call(t.Context(), "Charge", []any{"t1"}, "k2", []any{int64(1), int64(1)}, nil); err != nil {
		t.Error(err)
	}
}

// A function of the service may end its goroutine: the client is answered, and
// no connection is kept.
func TestGoexitIsAnswered(t *testing.T) {
	t.Parallel()
	var logged logLines
	leaves := false
	goexit := func() {
		if leaves {
			runtime.Goexit()
		}
	}
	seen := newWitness()
	s := openWith(t, nil, Options{Logger: logged.logger(), Observer: seen, AuthorizeReplay: func(context.Context, Name, []any) error {
		goexit()
		return nil
	}, Problem: func(e *Error) (string, []byte) {
		goexit()
		return ownType, []byte(e.Code)
	}}, charge())
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
	seen.take(t)
	leaves = true
	wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 500)
	if end, _ := seen.take(t); end.Event != EventServerError || end.Status != 500 {
		t.Errorf("%+v", end)
	}
	if !strings.Contains(logged.take(), "runtime.Goexit") {
		t.Error("not logged")
	}
	for range 2 * s.pool.Config().MaxConns {
		_, _, err := Do(t.Context(), s.pool, doRequest("k", ""), func(context.Context, Tx) (Response, error) {
			goexit()
			return Response{}, nil
		})
		if CodeOf(err) != "internal" {
			t.Fatal(err)
		}
	}
}

// What a function of the service answers is sent as far as it can be.
func TestExistingThatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, existing := range []string{"not json", "{", "\"\xff\""} {
		var logged logLines
		wrong := &Error{Status: 403, Code: "mine", Existing: []byte(existing)}
		s := openWith(t, nil, Options{Logger: logged.logger(), AuthorizeReplay: func(context.Context, Name, []any) error { return wrong }}, charge())
		wantStatus(t, s.post("Charge", "k", `{"amount": 1}`), 201)
		wantCode(t, s.post("Charge", "k", `{"amount": 1}`), 403, "mine")
		if !strings.Contains(logged.take(), "is not JSON") {
			t.Errorf("%q is not logged", existing)
		}
		s.caller = func(*http.Request) ([]any, error) { return nil, wrong }
		wantCode(t, s.post("Charge", "k", `{"amount": 1}`), 403, "mine")
		for range 2 { // a record is made, too
			_, _, err := Do(t.Context(), s.pool, doRequest("k", ""), func(context.Context, Tx) (Response, error) {
				return Response{}, &Error{Status: 409, Code: "mine", Existing: []byte(existing)}
			})
			var e *Error
			if !errors.As(err, &e) || e.Status != 409 || e.Existing != nil {
				t.Errorf("%q: %v", existing, err)
			}
		}
	}
}

// An *Error that is none: of the caller function, and of a handler.
func TestErrorsThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, wrong := range []error{(*Error)(nil), &Error{Code: "x"}, &Error{Status: 200, Code: "x"}, Fail(99, "x", ""), fmt.Errorf("w: %w", Fail(600, "x", ""))} {
		var logged logLines
		s := openWith(t, nil, Options{Logger: logged.logger()}, charge())
		s.caller = func(*http.Request) ([]any, error) { return nil, wrong }
		wantCode(t, s.post("Charge", "k", `{"amount": 1}`), 401, "unauthenticated")
		if !strings.Contains(logged.take(), "*idem.Error") {
			t.Errorf("%T is not logged", wrong)
		}
		_, _, err := Do(t.Context(), s.pool, doRequest("k", ""), func(context.Context, Tx) (Response, error) { return Response{}, wrong })
		if CodeOf(err) != "internal" {
			t.Errorf("%v from Do", err)
		}
	}
	if CodeOf((*Error)(nil)) != "" {
		t.Error("nothing has a code")
	}
}

// Bytes of a header that Caller took over: a client's mistake.
func TestCallerTextsThatAreNotUTF8(t *testing.T) {
	op := createPayment("Create", patience, true)
	config := shopConfig(op)
	config.Caller = append(config.Caller, Field{Name: "user", Kind: KindText, Nullable: true})
	service, err := New(idemtest.Pool(t, shopTables), config, func(r *http.Request) ([]any, error) {
		return []any{r.Header.Get("X-Tenant"), r.Header.Get("X-User")}, nil
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{Service: service, mux: http.NewServeMux()}
	s.mux.Handle("/Create/{id}", service.Handler("Create"))
	wantCode(t, s.post("Create", "k", order1, "X-Tenant", "\xff", "X-User", "\xff"), 401, "unauthenticated")
	w := s.post("Create", "k", order1, "X-Tenant", "t1", "X-User", "\xff")
	wantCode(t, w, 400, "caller-invalid")
	if !strings.Contains(w.Body.String(), `"pointer":"caller:user"`) {
		t.Errorf("%s", w.Body)
	}
	wantStatus(t, s.post("Create", "k", order1, "X-Tenant", "t1", "X-User", "é"), 201)
}
