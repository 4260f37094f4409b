package idemkafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	idemkafka "github.com/idemgen/idemgen/adapters/kafka"
	"github.com/idemgen/idemgen/idem/outbox"
)

// A broker that is lost with records under way does not keep a delivery beyond its
// context.
func TestDeliveryEndsWithItsContextWhereBrokersAreLost(t *testing.T) {
	cluster, _ := newTopics(t)
	asked := make(chan struct{}, 1000)
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		asked <- struct{}{}
		return nil, errors.New("the connection is lost"), true
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := (&idemkafka.Sink{Client: client}).Deliver(ctx, outbox.Event{Key: "k", Topic: "orders"})
		ended <- err
	}()
	<-asked
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the delivery goes on although its context has ended")
	}
}
