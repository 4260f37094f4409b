package idemkafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	idemkafka "github.com/idemgen/idemgen/adapters/kafka"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/consume"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// shelf counts messages in a database, each once: what emitted services do, with
// idem.Do in place of their statement. It also notes the order of what it was given.
type shelf struct {
	pool   *pgxpool.Pool
	before func(m consume.Message) error // an error: the handler fails

	mu    sync.Mutex
	order map[string][]int // the numbers of each partition's messages, in order
	begun int
	ended int
}

func newShelf(t *testing.T) *shelf {
	return &shelf{pool: idemtest.Pool(t, "CREATE TABLE effects (n int NOT NULL, id text NOT NULL)"), order: map[string][]int{},
		before: func(consume.Message) error { return nil }}
}

func (s *shelf) Consume(ctx context.Context, m consume.Message) (consume.Disposition, error) {
	s.mu.Lock()
	s.begun++
	s.mu.Unlock()
	d, err := s.shelve(ctx, m)
	s.mu.Lock()
	s.ended++
	s.mu.Unlock()
	return d, err
}

func (s *shelf) shelve(ctx context.Context, m consume.Message) (consume.Disposition, error) {
	if m.ID == "" {
		return consume.Dead, idem.Fail(400, "message-id-missing", "The message has no id")
	}
	var n int
	if _, err := fmt.Sscanf(string(m.Body), `{"n": %d}`, &n); err != nil {
		return consume.Dead, idem.Fail(422, "input-invalid", "No number")
	}
	if err := s.before(m); err != nil {
		return consume.Retry, err
	}
	_, meta, err := idem.Do(ctx, s.pool, idem.Request{Scope: m.Scope, Operation: "Shelve", Key: m.ID}, func(ctx context.Context, tx idem.Tx) (idem.Response, error) {
		_, err := tx.Exec(ctx, "INSERT INTO effects VALUES ($1, $2)", n, m.ID)
		return idem.Response{Status: 204}, err
	})
	if err != nil {
		return consume.Retry, err
	}
	if !meta.Replayed {
		s.mu.Lock()
		s.order[m.Headers.Get("place")] = append(s.order[m.Headers.Get("place")], n)
		s.mu.Unlock()
	}
	return consume.Ack, nil
}

func (s *shelf) counts(t *testing.T) (effects, messages int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT id) FROM effects").Scan(&effects, &messages); err != nil {
		t.Fatal(err)
	}
	return effects, messages
}

// seen is how many messages the handler has begun and ended.
func (s *shelf) seen() (begun, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, s.ended
}

// newTopics is a cluster with a topic of four partitions, and one for its dead letters.
func newTopics(t *testing.T) (*kfake.Cluster, *kgo.Client) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "orders"), kfake.SeedTopics(1, "orders.dead"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return cluster, client
}

func produce(t *testing.T, client *kgo.Client, partition int32, id, body string) {
	t.Helper()
	r := &kgo.Record{Topic: "orders", Partition: partition, Value: []byte(body), Headers: []kgo.RecordHeader{{Key: "place", Value: fmt.Append(nil, partition)}}}
	if id != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: idemkafka.HeaderKey, Value: []byte(id)})
	}
	if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func newConsumer(cluster *kfake.Cluster, h consume.Handler) *idemkafka.Consumer {
	return &idemkafka.Consumer{
		Options: []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.FetchMaxWait(100 * time.Millisecond)},
		Group:   "shelf", Topics: []string{"orders"}, Handler: h,
		Settings: consume.Settings{MaxAttempts: 3, Logger: slog.New(slog.DiscardHandler), Delay: func(int) time.Duration { return 10 * time.Millisecond }},
	}
}

// run consumes until done says so, and gives Run's error.
func run(t *testing.T, c *idemkafka.Consumer, done func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to an end")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// committed is the sum of the group's offsets: of partitions that begin at 0, how many
// records are done.
func committed(t *testing.T, client *kgo.Client) int {
	t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = "shelf"
	topic := kmsg.NewOffsetFetchRequestGroupTopic()
	topic.Topic, topic.Partitions = "orders", []int32{0, 1, 2, 3}
	group.Topics = append(group.Topics, topic)
	req.Groups = append(req.Groups, group)
	res, err := req.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, group := range res.Groups {
		for _, topic := range group.Topics {
			for _, p := range topic.Partitions {
				sum += max(p.Offset, 0)
			}
		}
	}
	return int(sum)
}

// Produced twice under one id, and failing once: one effect each, in the order of their
// partition; a partition that is held up holds up no other.
func TestConsumedRecordsHaveOneEffectInOrder(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	for n := range 40 {
		for range 2 {
			produce(t, client, int32(n%4), fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
		}
	}
	var mu sync.Mutex
	failed := map[string]bool{}
	s.before = func(m consume.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if !failed[m.ID] && m.Headers.Get("place") != "3" {
			failed[m.ID] = true
			return errors.New("not yet")
		}
		return nil
	}
	run(t, newConsumer(cluster, s), func() bool { return committed(t, client) == 80 })
	if effects, messages := s.counts(t); effects != 40 || messages != 40 {
		t.Errorf("%d effects of %d messages", effects, messages)
	}
	for place, order := range s.order {
		if len(order) != 10 || !slices.IsSorted(order) {
			t.Errorf("partition %s: %v", place, order)
		}
	}
}

// A record that goes on failing does not keep other partitions from going on.
func TestHeldPartitionHoldsUpNoOther(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	produce(t, client, 0, "stuck", `{"n": 1}`)
	s.before = func(m consume.Message) error {
		if m.ID == "stuck" {
			return idem.Fail(503, "unavailable", "")
		}
		return nil
	}
	c := newConsumer(cluster, s)
	c.Delay = func(int) time.Duration { return time.Hour }
	after := 0
	run(t, c, func() bool {
		begun, _ := s.seen()
		if begun >= 1 && after == 0 {
			for n := range 3 {
				produce(t, client, int32(n+1), fmt.Sprintf("m-%d", n), `{"n": 2}`)
			}
			after = 3
		}
		return after > 0 && committed(t, client) == after
	})
	if effects, _ := s.counts(t); effects != 3 {
		t.Errorf("%d effects", effects)
	}
}

// Offsets that are lost between the database's commit and Kafka's: the records come
// again, and have no second effect.
func TestOffsetsLostAfterTheCommit(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	for n := range 4 {
		produce(t, client, int32(n), fmt.Sprintf("m-%d", n), `{"n": 1}`)
	}
	var lost atomic.Bool
	lost.Store(true)
	cluster.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if !lost.Load() {
			return nil, nil, false
		}
		request := r.(*kmsg.OffsetCommitRequest)
		response := request.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, topic := range request.Topics {
			rt := kmsg.NewOffsetCommitResponseTopic()
			rt.Topic, rt.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				p := kmsg.NewOffsetCommitResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, kerr.UnknownServerError.Code
				rt.Partitions = append(rt.Partitions, p)
			}
			response.Topics = append(response.Topics, rt)
		}
		return response, nil, true
	})
	run(t, newConsumer(cluster, s), func() bool { _, ended := s.seen(); return ended == 4 })
	if n := committed(t, client); n != 0 {
		t.Fatalf("%d offsets committed", n)
	}
	lost.Store(false)
	run(t, newConsumer(cluster, s), func() bool { return committed(t, client) == 4 })
	if begun, _ := s.seen(); begun != 8 {
		t.Errorf("%d deliveries", begun)
	}
	if effects, _ := s.counts(t); effects != 4 {
		t.Errorf("%d effects", effects)
	}
}

// Poison goes to the dead letters with its reason, and the partition goes on.
func TestPoisonGoesToTheDeadLetters(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	produce(t, client, 0, "", `{"n": 1}`)
	produce(t, client, 0, "m-2", "not even JSON")
	produce(t, client, 0, "m-3", `{"n": 3000000000}`) // no int: it fails each time
	produce(t, client, 0, "m-4", `{"n": 4}`)
	run(t, newConsumer(cluster, s), func() bool { return committed(t, client) == 4 })
	if effects, _ := s.counts(t); effects != 1 {
		t.Errorf("%d effects", effects)
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("orders.dead"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var letters []string
	for len(letters) < 3 {
		fetched := reader.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			letters = append(letters, strings.Join([]string{string(r.Value), headers[idemkafka.HeaderKey], headers[consume.HeaderTopic], headers[consume.HeaderReason]}, " "))
		})
	}
	for i, want := range []string{`{"n": 1}  orders 400 message-id-missing`, "not even JSON m-2 orders 422 input-invalid", `{"n": 3000000000} m-3 orders given up after 3 deliveries`} {
		if !strings.HasPrefix(letters[i], want) {
			t.Errorf("%q, want %q", letters[i], want)
		}
	}
}

// Stopped again and again under load, and two members at the end: what was begun is
// done and committed, nothing is lost, nothing has two effects.
func TestStopUnderLoadLosesNothing(t *testing.T) {
	cluster, client := newTopics(t)
	s := newShelf(t)
	const all = 400
	for n := range all {
		produce(t, client, int32(n%4), fmt.Sprintf("m-%d", n), fmt.Sprintf(`{"n": %d}`, n))
	}
	for range 3 {
		from, _ := s.seen()
		run(t, newConsumer(cluster, s), func() bool { begun, _ := s.seen(); return begun >= from+40 })
		begun, ended := s.seen()
		if begun != ended {
			t.Errorf("stopped at %d begun, %d ended", begun, ended)
		}
		if n := committed(t, client); n != ended {
			t.Errorf("%d committed of %d", n, ended)
		}
	}
	if effects, _ := s.counts(t); effects == all {
		t.Error("it was never stopped under load")
	}
	other := newConsumer(cluster, s)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- other.Run(ctx) }()
	run(t, newConsumer(cluster, s), func() bool { return committed(t, client) == all })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if effects, messages := s.counts(t); effects != all || messages != all {
		t.Errorf("%d effects of %d messages", effects, messages)
	}
}
