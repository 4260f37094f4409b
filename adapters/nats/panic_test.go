package idemnats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/idemgen/idemgen/idem/consume"
)

// A message that Read panics of does not end the process: it goes to the dead letters.
func TestMessageThatReadPanicsOfIsBuried(t *testing.T) {
	js, _ := newStream(t)
	s := newShelf(t)
	for n := range 3 {
		publish(t, js, fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
	}
	c := newConsumer(t, js, s, time.Minute)
	c.Read = func(_ jetstream.Msg, m *consume.Message) {
		if m.ID == "m-1" {
			panic("secret")
		}
	}
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	dead, err := js.Stream(t.Context(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	m, err := dead.GetMsg(t.Context(), 1)
	if effects, _ := s.counts(t); err != nil || effects != 2 || m.Header.Get(consume.HeaderReason) != "given up after 3 deliveries: Read panicked" {
		t.Errorf("%d effects, %v, %v", effects, m, err)
	}
}
