package idemkafka_test

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/idem/consume"
)

// A record that Read panics of ends neither the process nor its partition: it goes to
// the dead letters, and those behind it go on.
func TestRecordThatReadPanicsOfIsBuried(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	for n := range 3 {
		produce(t, client, 0, fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
	}
	c := newConsumer(cluster, s)
	c.MaxAttempts = 1
	c.Read = func(_ *kgo.Record, m *consume.Message) {
		if m.ID == "m-1" {
			panic("secret")
		}
	}
	run(t, c, func() bool { return committed(t, client) == 3 })
	if effects, _ := s.counts(t); effects != 2 {
		t.Errorf("%d effects", effects)
	}
}

// Where it is not known which topic is for a dead letter, the record stays.
func TestRecordStaysWhereDeadTopicPanics(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	produce(t, client, 0, "m-0", "no number")
	produce(t, client, 1, "m-1", `{"n": 1}`)
	c := newConsumer(cluster, s)
	calls := 0
	c.DeadTopic = func(m consume.Message) string { calls++; panic("secret") }
	c.Concurrency = 1
	run(t, c, func() bool { begun, ended := s.seen(); return begun == ended && begun > 3 })
	if done := committed(t, client); done != 1 || calls < 2 {
		t.Errorf("%d records are done, after %d dead letters", done, calls)
	}
}
