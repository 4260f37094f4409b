package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// crashPoints are where a process can end while it is inside of a call.
var crashPoints = map[string]func(t *till, what string){
	"before it took effect": func(t *till, what string) {
		t.before = func(_ context.Context, v visit) error {
			if v.what == what && v.n == 1 {
				runtime.Goexit() // nothing runs any more that belongs to the operation
			}
			return nil
		}
	},
	"after it took effect": func(t *till, what string) {
		t.after = func(_ context.Context, v visit) error {
			if v.what == what && v.n == 1 {
				runtime.Goexit()
			}
			return nil
		}
	},
}

// A process that ends inside of a call leaves a lease: once it is over, a
// repetition in another process continues, and the call is made with the same key.
func TestCallCrashInside(t *testing.T) {
	t.Parallel()
	for point, crash := range crashPoints {
		for _, what := range []string{"Charge", "Notify"} {
			t.Run(what+" "+point, func(t *testing.T) {
				s := newStation(t, ride("Ride"))
				crash(s.till, what)
				wantStatus(t, s.post("Ride", "k", order1), 500)
				s.expireLease(t)
				first := s.twin(t, ride("Ride")).post("Ride", "k", order1)
				wantStatus(t, first, 201)
				s.settled(t)
				sameAnswer(t, first, s.post("Ride", "k", order1))
				if what == "Charge" {
					s.till.want(t, 2, 1, 0, 0)
				} else { // what was done before is not done again
					s.till.want(t, 1, 2, 0, 0)
				}
			})
		}
	}
}

// The completer does it without the client.
func TestCallCrashIsCompleted(t *testing.T) {
	t.Parallel()
	for point, crash := range crashPoints {
		t.Run(point, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			crash(s.till, "Charge")
			wantStatus(t, s.post("Ride", "k", order1), 500)
			s.expireLease(t)
			s.twin(t, ride("Ride")).run(t)
			s.await(t, 0, "SELECT count(*) FROM idem.work")
			s.settled(t)
			w := s.post("Ride", "k", order1)
			if w.Code != 201 || w.Header().Get(replayedHeader) != "true" || w.Header().Get("Location") != "/v1/rides/1" {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
		})
	}
}

// The connection is lost around each of the commits: nothing is done twice, nothing
// is lost, and the client is answered by the table.
func TestCallLosesItsConnection(t *testing.T) {
	t.Parallel()
	for _, at := range []idemtest.CutPoint{idemtest.CutBefore, idemtest.CutAnswer} {
		for commit, what := range []string{"Insert", "Charge", "Notify"} {
			t.Run(fmt.Sprintf("%d after %s", at, what), func(t *testing.T) {
				var cutter idemtest.Cutter
				pool := idemtest.Open(t, idemtest.URL(t, shopTables), cutter.Watch)
				s := openStation(t, pool, &till{}, nil, ride("Ride"))
				if commit == 0 {
					cutter.Arm(at, "COMMIT")
				}
				s.till.after = func(_ context.Context, v visit) error {
					if v.what == what {
						cutter.Arm(at, "COMMIT")
					}
					return nil
				}
				w := s.post("Ride", "k", order1)
				if !cutter.Disarm() {
					t.Fatal("nothing was cut")
				}
				wantStatus(t, w, 201)
				s.till.want(t, 1, 1, 0, 0)
				s.settled(t)
			})
		}
	}
}

// An owner that comes back after its lease was over, and after another has
// continued, writes nothing.
func TestCallLateOwnerIsFenced(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"done by the time", "still under way"} {
		t.Run(how, func(t *testing.T) {
			s := newStation(t, ride("Ride"))
			twin := s.twin(t, ride("Ride"))
			entered, back, inside := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s.till.after = func(_ context.Context, v visit) error {
				switch {
				case v.what != "Charge":
				case v.n == 1:
					close(entered)
					<-back
				case how == "still under way":
					close(inside)
					<-back
				}
				return nil
			}
			late, other := make(chan *httptest.ResponseRecorder, 1), make(chan *httptest.ResponseRecorder, 1)
			go func() { late <- s.post("Ride", "k", order1) }()
			within(t, entered)
			s.expireLease(t)
			go func() { other <- twin.post("Ride", "k", order1) }()
			if how == "still under way" {
				within(t, inside)
				close(back)
			} else {
				wantStatus(t, within(t, other), 201)
				close(back)
			}
			w := within(t, late)
			wantStatus(t, w, 201)
			if how == "still under way" {
				sameBody(t, w, within(t, other))
			}
			s.settled(t)
			s.till.want(t, 2, 1, 0, 0)
		})
	}
}

func sameBody(t *testing.T, a, b *httptest.ResponseRecorder) {
	t.Helper()
	if a.Code != b.Code || a.Body.String() != b.Body.String() {
		t.Errorf("%d %s\n%d %s", a.Code, a.Body, b.Code, b.Body)
	}
}

// An owner that loses its lease inside of a call is told by its context.
func TestCallIsCancelledWithItsLease(t *testing.T) {
	op := ride("Ride")
	op.Steps[1].Call.Lease = 60_000_000
	s := newStation(t, op)
	entered, told := make(chan struct{}), make(chan error, 1)
	s.till.before = func(ctx context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			close(entered)
			<-ctx.Done()
			told <- ctx.Err()
			return ctx.Err()
		}
		return nil
	}
	answer := make(chan *httptest.ResponseRecorder, 1)
	go func() { answer <- s.post("Ride", "k", order1) }()
	within(t, entered)
	s.exec(t, "UPDATE idem.work SET owner = 'another', attempt = attempt + 1, lease_until = clock_timestamp() - interval '1 s'")
	if err := within(t, told); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantStatus(t, within(t, answer), 201) // the lease of the other is over: it goes on
	s.settled(t)
}

// The lease is extended for as long as a call runs.
func TestCallExtendsItsLease(t *testing.T) {
	t.Parallel()
	op := ride("Ride")
	op.Steps[1].Call.Lease = 90_000_000
	s := newStation(t, op)
	s.till.before = func(_ context.Context, v visit) error {
		if v.what != "Charge" {
			return nil
		}
		var at string
		read := func() string {
			return s.text(t, "SELECT lease_until::text FROM idem.work")
		}
		for i := 0; i < 3; i++ {
			at = read()
			for read() == at {
			}
		}
		return nil
	}
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.till.want(t, 1, 1, 0, 0)
	s.settled(t)
}

// A database that is gone while the call ends: the client is told to come again,
// and nothing is lost.
func TestCallResultsThatCantBeWritten(t *testing.T) {
	s := newStation(t, ride("Ride"))
	s.till.after = func(_ context.Context, v visit) error {
		if v.n == 1 && v.what == "Charge" {
			s.exec(t, `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out' USING ERRCODE = '53100'; END $$;
				CREATE TRIGGER broken BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION broken()`)
		}
		return nil
	}
	wantCode(t, s.post("Ride", "k", order1), 503, "unavailable")
	if n := s.count(t, "SELECT count(*) FROM idem.work WHERE step = 2 AND owner IS NULL AND tries = 1 AND due_at > clock_timestamp()"); n != 1 {
		t.Errorf("%d wait behind the call", n)
	}
	s.exec(t, "DROP TRIGGER broken ON accounts")
	wantStatus(t, s.post("Ride", "k", order1), 201)
	s.till.want(t, 1, 1, 0, 0) // its results were kept
	s.settled(t)
}
