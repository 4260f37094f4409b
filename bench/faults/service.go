package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/faults/internal/api"
	"github.com/idemgen/idemgen/bench/faults/internal/steps"
	"github.com/idemgen/idemgen/idem/outbox"
)

// What the service's process is told by its environment. The first one makes a
// process of this program be the service.
const (
	envDatabase = "FAULTS_DATABASE_URL"
	envReceiver = "FAULTS_RECEIVER_URL"
)

const scopeHeader = "X-Scope"

// serve is the service: it ends when its standard input does, so also with the
// process that started it.
func serve() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed
		stop()
	}()
	config, err := pgxpool.ParseConfig(os.Getenv(envDatabase))
	if err != nil {
		return err
	}
	config.MaxConns = 12
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	handler, svc, err := newHandler(pool, os.Getenv(envReceiver))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close() // Serve returns
	}()
	ran := make(chan error, 1)
	go func() { ran <- svc.Run(ctx) }()
	fmt.Printf("listening on http://%s\n", listener.Addr())
	err = server.Serve(listener)
	stop()
	if runErr := <-ran; !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, runErr)
	}
	return nil
}

func newHandler(pool *pgxpool.Pool, receiver string) (http.Handler, *api.Service, error) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	svc, err := api.New(pool, api.Options{
		Caller: func(r *http.Request) (api.Caller, error) {
			return api.Caller{TenantID: r.Header.Get(scopeHeader)}, nil
		},
		Logger: logger,
		Go:     api.Funcs{Judge: steps.Judge, Tell: steps.Teller{URL: receiver + placeCalls}.Tell},
		Outbox: &outbox.Dispatcher{
			Logger: logger, Lease: 2 * time.Second,
			Sinks: map[string]outbox.Sink{"*": &outbox.HTTP{URL: receiver + placeEvents}},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	router := chi.NewRouter()
	router.Post("/clock", stepClock)
	return router, svc, svc.Mount(router)
}
