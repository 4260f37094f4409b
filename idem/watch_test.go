package idem

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// saboteur panics wherever it is called.
type saboteur struct{}

func (saboteur) OperationStarted(context.Context, OperationStart) context.Context { panic("start") }
func (saboteur) OperationEnded(context.Context, OperationEnd)                     { panic("end") }
func (saboteur) OperationRetried(context.Context, OperationRetry)                 { panic("retry") }

// nowhere gives no context.
type nowhere struct{ *witness }

func (nowhere) OperationStarted(context.Context, OperationStart) context.Context { return nil }

func TestAnObserverDisturbsNothing(t *testing.T) {
	t.Parallel()
	var logged logLines
	flaky := `CREATE SEQUENCE tries; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('tries') = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION fail()`
	behind := newWitness()
	s, _ := watchedShop(t, idemtest.Pool(t, shopTables, flaky),
		Options{Observer: Observers(saboteur{}, nowhere{newWitness()}, behind), Logger: logged.logger()}, createPayment("Create", "2000ms", true))
	wantStatus(t, s.post("Create", "k1", order1), 201)
	wantCode(t, s.post("Create", "", order1), 400, "key-missing")
	if n := s.count(t, "SELECT count(*) FROM payments"); n != 1 {
		t.Errorf("%d effects", n)
	}
	if len(behind.starts) != 2 || len(behind.retries) != 1 || len(behind.ends) != 2 || behind.ends[0].Code != "" {
		t.Errorf("the one behind was told of %+v, %+v, %+v", behind.starts, behind.retries, behind.ends)
	}
	text := logged.take()
	for _, want := range []string{"the observer panicked", "panic: start", "panic: end", "panic: retry"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q was not logged", want)
		}
	}
}

func TestObserversAreAllTold(t *testing.T) {
	first, second := newWitness(), newWitness()
	seen := &sweeps{seen: map[string]SweepEnd{}}
	all := Observers(first, nil, seen, second)
	ctx := all.(StartObserver).OperationStarted(t.Context(), OperationStart{})
	all.(RetryObserver).OperationRetried(ctx, OperationRetry{Attempt: 1})
	all.OperationEnded(ctx, OperationEnd{Status: 201})
	all.(SweepObserver).KeysSwept(ctx, SweepEnd{Database: "d"})
	for _, w := range []*witness{first, second} {
		if len(w.starts) != 1 || len(w.retries) != 1 || len(w.ends) != 1 {
			t.Errorf("%+v", w)
		}
	}
	if ctx.Value(witnessKey{}) != second || len(seen.seen) != 1 {
		t.Error("a context or a sweep is lost")
	}
	if Observers() != nil || Observers(nil, nil) != nil {
		t.Error("nobody is somebody")
	}
}

// Observers that have been joined stand alone, too: in an observer of somebody's.
func TestJoinedObserversAreAllToldWhateverOneDoes(t *testing.T) {
	first, second := &sweeps{seen: map[string]SweepEnd{}}, &sweeps{seen: map[string]SweepEnd{}}
	joined := Observers(first, Observers(sweepFunc(func(SweepEnd) { panic("sweep") }), second))
	joined.(SweepObserver).KeysSwept(t.Context(), SweepEnd{Database: "d"})
	if len(first.seen) != 1 || len(second.seen) != 1 {
		t.Errorf("%v %v", first.seen, second.seen)
	}
}

// Without an observer of beginnings the request is handed on as it is.
func TestARequestIsNotCopiedForNothing(t *testing.T) {
	ends := struct{ Observer }{newWitness()} // hides the other methods
	s, _ := watchedShop(t, idemtest.Open(t, "postgres://nobody@127.0.0.1:1/none", nil), Options{Observer: ends}, createPayment("Create", "2000ms", true))
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	if w := s.watch(r.Context(), s.operations["Create"]); w == nil || w.request(r) != r {
		t.Error("another request")
	}
}

// One line per request at level Debug; what fails is logged above that anyway.
func TestEachRequestIsOneDebugLine(t *testing.T) {
	t.Parallel()
	var logged logLines
	s, _ := watchedShop(t, idemtest.Pool(t, shopTables), Options{Logger: logged.logger()}, createPayment("Create", "2000ms", true))
	wantStatus(t, s.post("Create", "secret-key", `{"order_id": "secret-order", "amount": 5}`), 201)
	text := logged.take()
	for _, want := range []string{"level=DEBUG", `msg="operation ended"`, "operation=shop.Create", "event=new", "status=201", "strategy=fused", "attempts=1", "key_digest="} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "secret") {
		t.Error(text)
	}
}

// Nobody listens: nothing is measured, nothing allocated.
func TestNobodyListensAtNoCost(t *testing.T) {
	s := openShop(t, idemtest.Pool(t), createPayment("Create", "2000ms", true))
	op := s.operations["Create"]
	inv := newInvocation(op, s.pools.all[0], "t1")
	inv.protect("k1")
	r, ans, failed := httptest.NewRequest(http.MethodPost, "/", nil), &answer{status: 201}, &failure{err: errNoAnswer}
	n := testing.AllocsPerRun(100, func() {
		w := s.watch(r.Context(), op)
		if inv.seen = w; w.request(r) != r || w.context(r.Context()) != r.Context() {
			t.Error("another context")
		}
		w.attempt()
		w.retry(failed, RetryVanished)
		w.abandon()
		inv.told(ans)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDoIsObserved(t *testing.T) {
	t.Parallel()
	seen := newWitness()
	pool := idemtest.Pool(t)
	do := func(answer error) error {
		_, _, err := Do(t.Context(), pool, Request{Scope: "s", Operation: "shop.Redeem", Key: "k1", Observer: seen},
			func(context.Context, Tx) (Response, error) { return Response{}, answer })
		return err
	}
	for _, want := range []Event{EventNew, EventDuplicate} {
		if err := do(nil); err != nil {
			t.Fatal(err)
		}
		if end, _ := seen.take(t); end.Event != want || end.Operation != "shop.Redeem" || end.Strategy != Stepped || end.Attempts != 1 {
			t.Errorf("%+v", end)
		}
	}
}
