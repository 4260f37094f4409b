package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	idemnats "github.com/idemgen/idemgen/adapters/nats"
	"github.com/idemgen/idemgen/idem/consume"

	"example.com/payments/internal/api"
)

// consumeBroker takes the messages of the stream orders at NATS_URL, until ctx ends and
// what it has begun is acknowledged. Without one it takes none, and waits for that end.
func consumeBroker(ctx context.Context, logger *slog.Logger, svc *api.Service) error {
	url := os.Getenv("NATS_URL")
	if url == "" {
		<-ctx.Done()
		return nil
	}
	conn, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("NATS_URL: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	for _, stream := range []jetstream.StreamConfig{
		{Name: "orders", Subjects: svc.Topics()},
		{Name: "dead", Subjects: []string{"dead.>"}}, // what is given up is kept there
	} {
		if err := ensureStream(ctx, js, stream); err != nil {
			return err
		}
	}
	for {
		err := consumeOrders(ctx, js, logger, svc)
		if ctx.Err() != nil {
			return err
		}
		logger.ErrorContext(ctx, "the consumer ended; it is started again", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// ensureStream makes a stream where there is none: what there is stays as it is.
func ensureStream(ctx context.Context, js jetstream.JetStream, stream jetstream.StreamConfig) error {
	_, err := js.CreateStream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil
	}
	return err
}

// consumeOrders takes the messages of the stream orders to the service.
func consumeOrders(ctx context.Context, js jetstream.JetStream, logger *slog.Logger, svc consume.Handler) error {
	messages, err := js.CreateOrUpdateConsumer(ctx, "orders", jetstream.ConsumerConfig{
		Durable: "payments", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	consumer := &idemnats.Consumer{Messages: messages, Stream: js, Handler: svc, Settings: consume.Settings{Logger: logger}}
	return consumer.Run(ctx)
}
