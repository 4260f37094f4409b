package consume_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/consume"
)

func gives(d consume.Disposition, err error) consume.Handler {
	return consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) { return d, err })
}

// A message that fails for good reaches the dead letters; one that only finds no
// database never does.
func TestMessagesAreGivenUpForTheirOwnFaultsOnly(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		d       consume.Disposition
		err     error
		attempt int
		want    consume.Disposition
	}{
		"a success":               {consume.Ack, nil, 99, consume.Ack},
		"a refusal":               {consume.Dead, broken, 1, consume.Dead},
		"the first failure":       {consume.Retry, broken, 1, consume.Retry},
		"the last but one":        {consume.Retry, broken, 2, consume.Retry},
		"the last":                {consume.Retry, broken, 3, consume.Dead},
		"nobody counts":           {consume.Retry, broken, 0, consume.Retry},
		"no database":             {consume.Retry, idem.Fail(503, "unavailable", ""), 99, consume.Retry},
		"a twin":                  {consume.Retry, fmt.Errorf("x: %w", idem.Fail(409, "in-flight", "")), 99, consume.Retry},
		"a stop":                  {consume.Retry, context.Canceled, 99, consume.Retry},
		"a fault of many":         {consume.Retry, idem.Fail(500, "internal", ""), 99, consume.Dead},
		"a failure without words": {consume.Retry, nil, 1, consume.Retry},
	} {
		var log strings.Builder
		s := consume.Settings{MaxAttempts: 3, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		m := consume.Message{ID: "secret-id", Topic: "t", Body: []byte("secret-body"), Attempt: c.attempt}
		got, err := s.Handle(t.Context(), gives(c.d, c.err), m)
		if got != c.want || (err == nil) != (got == consume.Ack) {
			t.Errorf("%s: %s %v", name, got, err)
		}
		if strings.Contains(log.String(), "secret") || (log.Len() == 0) != (got == consume.Ack) {
			t.Errorf("%s: log %q", name, log.String())
		}
	}
}

func TestPanicOfAHandlerIsAFailure(t *testing.T) {
	h := consume.HandlerFunc(func(context.Context, consume.Message) (consume.Disposition, error) { panic("broken") })
	if d, err := (consume.Settings{Logger: slog.New(slog.DiscardHandler)}).Handle(t.Context(), h, consume.Message{}); d != consume.Retry || err == nil {
		t.Errorf("%s %v", d, err)
	}
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	for attempt, want := range map[int]time.Duration{-1: 500 * time.Millisecond, 0: 500 * time.Millisecond, 1: 500 * time.Millisecond, 2: time.Second, 5: 8 * time.Second, 11: 5 * time.Minute, 1 << 40: 5 * time.Minute} {
		for range 100 {
			if d := consume.Backoff(attempt); d < want/2 || d > want {
				t.Errorf("attempt %d: %v, not within half of %v", attempt, d, want)
			}
		}
	}
}

func TestReasonsFitIntoHeaders(t *testing.T) {
	reason := fmt.Errorf("a\r\nb: %w%s", idem.Fail(422, "too_late", "é"), strings.Repeat("é", 400))
	got := consume.DeadHeaders(consume.Message{Topic: "t", Attempt: 3}, reason)
	text := got[consume.HeaderReason]
	if !strings.HasPrefix(text, "a  b: 422 too_late") || len(text) > 500 || strings.ContainsAny(text, "\r\n�") {
		t.Errorf("%q", text)
	}
	if got[consume.HeaderCode] != "too_late" || got[consume.HeaderTopic] != "t" || got[consume.HeaderAttempt] != "3" {
		t.Errorf("%v", got)
	}
}
