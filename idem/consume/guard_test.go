package consume_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/consume"
)

var quiet = consume.Settings{Logger: slog.New(slog.DiscardHandler)}

// A handler may end its goroutine, as t.FailNow does: the message is still counted as
// one that failed.
func TestHandlerThatEndsItsGoroutineHasFailed(t *testing.T) {
	h := consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) {
		runtime.Goexit()
		return consume.Ack, nil
	})
	if d, err := quiet.Handle(t.Context(), h, consume.Message{}); d != consume.Retry || err == nil {
		t.Errorf("%s %v", d, err)
	}
}

// A Read that panics of one message leaves it as it was, to fail and to be given up.
func TestMessageThatReadPanicsOfIsGivenUp(t *testing.T) {
	m := consume.Message{ID: "m-1", Topic: "t", Attempt: 10}
	h := consume.Amend(&m, gives(consume.Ack, nil), func(m *consume.Message) {
		m.ID = "changed"
		panic("secret")
	})
	d, err := quiet.Handle(t.Context(), h, m)
	if d != consume.Dead || err == nil || strings.Contains(err.Error(), "secret") || m.ID != "m-1" {
		t.Errorf("%s %v %+v", d, err, m)
	}
	h = consume.Amend(&m, gives(consume.Ack, nil), func(m *consume.Message) { m.ID = "changed" })
	if d, err := quiet.Handle(t.Context(), h, m); d != consume.Ack || err != nil || m.ID != "changed" {
		t.Errorf("%s %v %+v", d, err, m)
	}
}

func TestDelayThatPanicsIsTheDefault(t *testing.T) {
	s := consume.Settings{Delay: func(int) time.Duration { panic("oh") }}
	if wait := s.After(1); wait < 250*time.Millisecond || wait > 500*time.Millisecond {
		t.Error(wait)
	}
}

// A pointer that is nil, returned as an error, is the reason of a failure like any other.
func TestReasonThatIsANilPointerEndsNothing(t *testing.T) {
	var none *idem.Error
	for _, attempt := range []int{1, 10} {
		m := consume.Message{Topic: "t", Attempt: attempt}
		d, err := quiet.Handle(t.Context(), gives(consume.Retry, none), m)
		if d == consume.Ack || err == nil || consume.DeadHeaders(m, err)[consume.HeaderReason] == "" {
			t.Errorf("attempt %d: %s %v", attempt, d, err)
		}
	}
}
