package idemkafka_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	idemkafka "github.com/idemgen/idemgen/adapters/kafka"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/idem/outbox"
)

func TestMain(m *testing.M) { idemtest.Main(m) }

// newCluster is a cluster in this process, which talks Kafka's protocol.
func newCluster(t *testing.T) (*kfake.Cluster, *kgo.Client) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "paid"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("paid"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return cluster, client
}

const events = `INSERT INTO idem.outbox (scope, operation, topic, key, order_key, headers, payload)
	SELECT 's', 'o', 'paid', 'k-' || i, 'order-' || i % 3, '{"traceparent": "00-1"}', json_build_object('n', i) FROM generate_series(1, 60) i ORDER BY i`

// Every event is a record with its key in the headers; those of an ordering key
// are in one partition, in order.
func TestEventsAreRecords(t *testing.T) {
	_, client := newCluster(t)
	pool := idemtest.Pool(t, events)
	d := &outbox.Dispatcher{Pool: pool, Sinks: map[string]outbox.Sink{"paid": &idemkafka.Sink{Client: client}}}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Processed != 60 {
		t.Fatalf("%+v %v", done, err)
	}
	partitions, last := map[string]int32{}, map[string]int{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for seen := 0; seen < 60; {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			seen++
			var n int
			if _, err := fmt.Sscanf(string(r.Value), `{"n" : %d}`, &n); err != nil {
				t.Errorf("%s: %v", r.Value, err)
			}
			order := string(r.Key)
			if at, known := partitions[order]; known && at != r.Partition || last[order] >= n || order != fmt.Sprintf("s/order-%d", n%3) {
				t.Errorf("%s: %d in partition %d behind %d in %d", order, n, r.Partition, last[order], at)
			}
			partitions[order], last[order] = r.Partition, n
			for _, want := range []string{fmt.Sprintf("idempotency-key=k-%d", n), "traceparent=00-1", "content-type=application/json", "event-type=paid"} {
				if !slices.ContainsFunc(r.Headers, func(h kgo.RecordHeader) bool { return h.Key+"="+string(h.Value) == want }) {
					t.Errorf("no %s in %v", want, r.Headers)
				}
			}
		})
	}
}

// A record that the broker refuses for good makes its event DEAD.
func TestRefusedRecordIsDead(t *testing.T) {
	cluster, client := newCluster(t)
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		request := r.(*kmsg.ProduceRequest)
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range request.Topics {
			t := kmsg.NewProduceResponseTopic()
			t.Topic, t.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				p := kmsg.NewProduceResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, kerr.MessageTooLarge.Code
				t.Partitions = append(t.Partitions, p)
			}
			response.Topics = append(response.Topics, t)
		}
		return response, nil, true
	})
	pool := idemtest.Pool(t, `INSERT INTO idem.outbox (scope, operation, topic, key, payload) VALUES ('s', 'o', 'paid', 'k', '{}')`)
	d := &outbox.Dispatcher{Pool: pool, Sinks: map[string]outbox.Sink{"*": &idemkafka.Sink{Client: client, Topic: func(outbox.Event) string { return "paid" }}}}
	if done, err := d.Dispatch(t.Context()); err != nil || done.Dead != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	var reason string
	if err := pool.QueryRow(t.Context(), "SELECT reason FROM idem.outbox").Scan(&reason); err != nil || !strings.Contains(reason, "MESSAGE_TOO_LARGE") {
		t.Errorf("%s %v", reason, err)
	}
}
