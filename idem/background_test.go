package idem

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// What the completer begins is told to its end, or a span stays open: also where the
// lease is lost to another process, and where a function panics or ends its goroutine.
func TestBackgroundWorkIsToldToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(s *station) error
		event Event
	}{
		"the lease is another's": {func(s *station) error {
			s.exec(t, "UPDATE idem.work SET owner = 'another', attempt = attempt + 1, lease_until = 'infinity'")
			return nil
		}, EventProcessing},
		"a panic":     {func(*station) error { panic("broken") }, EventServerError},
		"the Goexit":  {func(*station) error { runtime.Goexit(); return nil }, EventServerError},
		"an error":    {func(*station) error { return errors.New("away") }, EventServerError},
		"all is well": {func(*station) error { return nil }, EventNew},
	} {
		w := newWitness()
		s := openStation(t, idemtest.Pool(t, shopTables), &till{}, func(o *Options) { o.Observer = w }, payout())
		s.till.before = func(_ context.Context, v visit) error {
			if v.n > 1 || v.what != "Charge" {
				return nil
			}
			return c.fails(s)
		}
		wantStatus(t, s.post("Payout", "k", order1), 202)
		w.take(t)
		stop := s.run(t)
		within(t, w.ended)
		w.mu.Lock()
		if end := w.ends[0]; !end.Background || end.Event != c.event || end.Code == "not the context of the start" {
			t.Errorf("%s: %+v", name, end)
		}
		w.mu.Unlock()
		stop()
		if len(w.starts) != len(w.ends) {
			t.Errorf("%s: %d are begun, %d ended", name, len(w.starts), len(w.ends))
		}
	}
}
