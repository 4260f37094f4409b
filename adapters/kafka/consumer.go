package idemkafka

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/idem/consume"
)

// Headers by which records tell their type and whose they are; [Sink] sets both.
const (
	HeaderType  = "event-type"
	HeaderScope = "scope"
)

// Consumer takes records of a consumer group to a handler, those of a partition in
// order, and commits their offsets when they are done. The id is the header
// idempotency-key: Kafka gives none of its own that a second copy would share.
//
// A record that fails holds its partition up, and no other, until it succeeds or goes
// to the dead letters.
type Consumer struct {
	consume.Settings // Concurrency: partitions at once
	// Options are franz-go's: seeds, TLS, and what else the cluster needs. The group,
	// its topics and how offsets are committed are the Consumer's own.
	Options []kgo.Opt
	Group   string
	Topics  []string // Kafka's: those of the emitted service, where nothing maps them
	// Handler handles messages: an emitted service.
	Handler consume.Handler
	// DeadTopic chooses the topic of a dead letter; nil: its own and ".dead".
	DeadTopic func(m consume.Message) string
	// Read may change what was read of a record: its topic, id, type or scope; nil: nothing.
	Read func(from *kgo.Record, m *consume.Message)
}

const (
	// maxPolled and maxRound bound how long one round of records keeps the group from
	// moving partitions, which it waits a minute for.
	maxPolled  = 500
	maxRound   = 15 * time.Second
	commitTime = 10 * time.Second
)

// run is one client's work. Everything but the records of a round is its loop's own.
type run struct {
	*Consumer
	client  *kgo.Client
	waiting map[place]*wait
}

// place is a partition.
type place struct {
	topic     string
	partition int32
}

// wait is what a partition is held up by.
type wait struct {
	offset  int64
	attempt int // of the record, how often it failed
	until   time.Time
	paused  bool
}

// Run consumes until ctx ends and the records it has begun are done and committed; it
// leaves the group then. An error is one of the configuration, or of the client's end.
func (c *Consumer) Run(ctx context.Context) error {
	if c.Handler == nil || c.Group == "" || len(c.Topics) == 0 {
		return errors.New("idemkafka: Consumer needs Handler, Group and Topics")
	}
	opts := append([]kgo.Opt{kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, c.Options...)
	client, err := kgo.NewClient(append(opts, kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(c.Topics...), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer client.CloseAllowingRebalance()
	r := &run{Consumer: c, client: client, waiting: map[place]*wait{}}
	for ctx.Err() == nil {
		if err := r.round(ctx); err != nil {
			return fmt.Errorf("kafka: %w", err)
		}
	}
	return nil
}

// round polls once, handles what came, and commits. No partition is moved meanwhile.
func (r *run) round(ctx context.Context) error {
	polling, cancel := r.untilDue(ctx)
	defer cancel()
	fetches := r.client.PollRecords(polling, maxPolled)
	defer r.client.AllowRebalance()
	if fetches.IsClientClosed() {
		return kgo.ErrClientClosed
	}
	fetches.EachError(func(topic string, _ int32, err error) {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			r.Log().WarnContext(ctx, "records not fetched; they are asked for again", "topic", topic, "error", err)
		}
	})
	working := context.WithoutCancel(ctx)
	end := time.Now().Add(maxRound)
	goesOn := func() bool { return ctx.Err() == nil && time.Now().Before(end) }
	done, stopped := r.handleAll(working, fetches, goesOn)
	committing, cancelCommit := context.WithTimeout(working, commitTime)
	defer cancelCommit()
	if err := r.client.CommitRecords(committing, done...); err != nil && len(done) > 0 {
		r.Log().WarnContext(ctx, "offsets not committed; their records come again", "error", err)
	}
	r.rewind(stopped)
	return nil
}

// untilDue resumes partitions that have waited, and bounds the poll by the next one.
func (r *run) untilDue(ctx context.Context) (context.Context, context.CancelFunc) {
	now, next := time.Now(), time.Time{}
	for at, w := range r.waiting {
		switch {
		case !w.paused:
		case !w.until.After(now):
			w.paused = false
			r.client.ResumeFetchPartitions(map[string][]int32{at.topic: {at.partition}})
		case next.IsZero() || w.until.Before(next):
			next = w.until
		}
	}
	if next.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, next)
}

// halt is where a partition's records of this round were left.
type halt struct {
	place
	record  *kgo.Record
	attempt int // 0: it was not begun
}

// handleAll handles the records of every partition, a bounded number at once. It gives
// the last one that is done, and the first that is not, of each.
func (r *run) handleAll(ctx context.Context, fetches kgo.Fetches, goesOn func() bool) (done []*kgo.Record, stopped []halt) {
	var work sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, r.Limit())
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		at := place{p.Topic, p.Partition}
		failed := 0
		if w := r.waiting[at]; w != nil && w.offset == p.Records[0].Offset {
			failed = w.attempt
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			last, left := r.handlePartition(ctx, p.Records, failed, goesOn)
			mu.Lock()
			defer mu.Unlock()
			if last != nil {
				done = append(done, last)
			}
			if left != nil {
				left.place = at
				stopped = append(stopped, *left)
			}
		})
	})
	work.Wait()
	return done, stopped
}

// handlePartition handles records in order, up to the first that fails. Failed is how
// often the first one has failed before.
func (r *run) handlePartition(ctx context.Context, records []*kgo.Record, failed int, goesOn func() bool) (last *kgo.Record, left *halt) {
	for _, record := range records {
		if !goesOn() {
			return last, &halt{record: record, attempt: failed}
		}
		m, handler := r.read(record)
		m.Attempt = failed + 1
		d, reason := r.Handle(ctx, handler, m)
		if d == consume.Dead {
			if err := r.bury(ctx, record, m, reason); err != nil {
				r.Log().ErrorContext(ctx, "dead letter not produced; the record stays", "topic", m.Topic, "error", err)
				d = consume.Retry
			}
		}
		if d == consume.Retry {
			return last, &halt{record: record, attempt: failed + 1}
		}
		last, failed = record, 0
	}
	return last, nil
}

// rewind has partitions continue at the record where they were left, at once where it
// has not failed. It must run while the group can't move partitions.
func (r *run) rewind(stopped []halt) {
	still := map[place]*wait{}
	offsets, pause := map[string]map[int32]kgo.EpochOffset{}, map[string][]int32{}
	for at, w := range r.waiting {
		if w.paused {
			still[at] = w
		}
	}
	for _, h := range stopped {
		w := &wait{offset: h.record.Offset, attempt: h.attempt, until: time.Now()}
		if before := r.waiting[h.place]; h.attempt > 0 && (before == nil || before.offset != w.offset || before.attempt != w.attempt) {
			w.until, w.paused = w.until.Add(r.After(h.attempt)), true
			pause[h.topic] = append(pause[h.topic], h.partition)
		}
		still[h.place] = w
		if offsets[h.topic] == nil {
			offsets[h.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[h.topic][h.partition] = kgo.EpochOffset{Epoch: h.record.LeaderEpoch, Offset: h.record.Offset}
	}
	r.waiting = still
	if len(pause) > 0 {
		r.client.PauseFetchPartitions(pause)
	}
	r.client.SetOffsets(offsets)
}

// read gives a message, and what is to handle it.
func (c *Consumer) read(r *kgo.Record) (consume.Message, consume.Handler) {
	headers := http.Header{}
	for _, h := range r.Headers {
		headers.Add(h.Key, string(h.Value))
	}
	m := consume.Message{
		ID: headers.Get(HeaderKey), Topic: r.Topic, Type: headers.Get(HeaderType), Scope: c.Group, Body: r.Value, Headers: headers,
	}
	if c.Read == nil {
		return m, c.Handler
	}
	handler := consume.Amend(&m, c.Handler, func(m *consume.Message) { c.Read(r, m) })
	return m, handler
}

// bury produces a dead letter, and waits until the brokers have it.
func (r *run) bury(ctx context.Context, from *kgo.Record, m consume.Message, reason error) error {
	dead := &kgo.Record{Topic: from.Topic + ".dead", Key: from.Key, Value: from.Value}
	if r.DeadTopic != nil {
		if err := consume.Guard("DeadTopic", func() { dead.Topic = r.DeadTopic(m) }); err != nil {
			return err
		}
	}
	for _, h := range from.Headers {
		if !strings.HasPrefix(h.Key, "Idem-Dead-") { // of an earlier time
			dead.Headers = append(dead.Headers, h)
		}
	}
	if m.ID != "" && m.Headers.Get(HeaderKey) == "" {
		dead.Headers = append(dead.Headers, kgo.RecordHeader{Key: HeaderKey, Value: []byte(m.ID)})
	}
	for name, value := range consume.DeadHeaders(m, reason) {
		dead.Headers = append(dead.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	return produce(ctx, r.client, dead)
}
