package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/faults/internal/api"
	"github.com/idemgen/idemgen/bench/faults/internal/db"
	"github.com/idemgen/idemgen/idem"
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
		Go:     api.Funcs{Judge: judge, Tell: teller{receiver}.tell},
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

const refused = "refuse" // references that begin so are refused

// judge is the Go step of Decide.
func judge(ctx context.Context, q *db.Queries, in api.JudgeInput) (api.JudgeOutput, error) {
	line, err := q.InsertLine(ctx, db.InsertLineParams{TenantID: in.TenantID, Reference: in.Reference, EffectID: in.EffectID})
	if err != nil {
		return api.JudgeOutput{}, err
	}
	if strings.HasPrefix(in.Reference, refused) {
		return api.JudgeOutput{}, idem.Fail(http.StatusPaymentRequired, api.CodeRefused, "")
	}
	return api.JudgeOutput{LineID: line.ID}, nil
}

// teller is the call of Reach.
type teller struct{ receiver string }

func (t teller) tell(ctx context.Context, key string, in api.TellInput) (api.TellOutput, error) {
	body, err := json.Marshal(map[string]string{"reference": in.Reference})
	if err != nil {
		return api.TellOutput{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.receiver+placeCalls, bytes.NewReader(body))
	if err != nil {
		return api.TellOutput{}, err
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return api.TellOutput{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was read, or it failed
	receipt, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the receiver answers %d", res.StatusCode)
	}
	return api.TellOutput{Receipt: string(receipt)}, err
}
