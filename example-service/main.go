// Command example-service is a small payments service, the way a repository
// that uses idemgen looks: migrations, annotated queries, one go:generate line.
// What is in internal/ is generated.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/adapters/mcp"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
	"example.com/payments/internal/docs"
	"example.com/payments/internal/gateway"
	"example.com/payments/internal/refunds"
)

// openapiDocument is emitted; the service serves what it is.
//
//go:embed openapi.yaml
var openapiDocument []byte

//go:generate go run github.com/idemgen/idemgen/cmd/idemgen generate

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	tenant := flag.String("new-key", "", "make an API key for this tenant, print it and exit")
	agent := flag.String("mcp", "", "serve the tools of this tenant to an agent, over standard input and output")
	gatewayOnly := flag.String("gateway", "", "serve only the card gateway, at this address")
	flag.Parse()
	if *gatewayOnly != "" {
		if err := serveGateway(ctx, *gatewayOnly); err != nil {
			logger.Error("the gateway stopped", "error", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, logger, *tenant, *agent); err != nil {
		logger.Error("the service stopped", "error", err)
		os.Exit(1)
	}
}

// run serves, or makes an API key for a tenant where one is named; for an agent's
// tenant it serves the tools alone.
func run(ctx context.Context, logger *slog.Logger, tenant, agent string) error {
	url, stopServer, err := databaseURL(ctx, logger)
	if err != nil {
		return err
	}
	defer stopServer()
	if err := migrate(ctx, url); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if tenant != "" {
		return printAPIKey(ctx, os.Stdout, db.New(pool), tenant)
	}

	cards, stopGateway, err := gatewayURL(logger)
	if err != nil {
		return err
	}
	defer stopGateway()
	handler, svc, err := newHandler(ctx, pool, logger, &gateway.Client{URL: cards}, stripeSecrets()...)
	if err != nil {
		return err
	}
	if agent != "" {
		return serveStdio(ctx, svc, agent)
	}
	listener, err := net.Listen("tcp", address())
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	if os.Getenv("DATABASE_URL") != "" {
		fmt.Println("make an API key: go run ./example-service -new-key TENANT")
	} else if err := invite(ctx, os.Stdout, db.New(pool), listener.Addr().String()); err != nil {
		return err
	}
	return serve(ctx, logger, handler, svc, listener)
}

// newHandler puts the emitted operations behind the service's own
// authentication, and the webhooks beside it.
func newHandler(ctx context.Context, pool *pgxpool.Pool, logger *slog.Logger, cards *gateway.Client, secrets ...string) (http.Handler, *api.Service, error) {
	svc, err := api.New(pool, api.Options{Caller: callerOf, Logger: logger, Go: functions(cards), Outbox: newDispatcher(logger, db.New(pool), cards), Webhooks: webhooks(secrets), MessageScope: tenantOfMessage})
	if err != nil {
		return nil, nil, err
	}
	if err := svc.Ready(ctx); err != nil {
		return nil, nil, err
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	for _, path := range []string{"/openapi.yaml", "/docs", "/docs/*"} {
		r.Method(http.MethodGet, path, docs.Handler(openapiDocument))
	}
	if err := svc.Mount(r.With(authenticate(db.New(pool)))); err != nil {
		return nil, nil, err
	}
	if err := svc.MountWebhooks(r); err != nil {
		return nil, nil, err
	}
	agents, err := agentServer(svc, agentOf(db.New(pool)))
	if err != nil {
		return nil, nil, err
	}
	r.With(authenticate(db.New(pool))).Handle("/mcp", mcp.Handler(agents))
	return r, svc, nil
}

// functions are the Go steps and calls of operations.
func functions(cards *gateway.Client) api.Funcs {
	return api.Funcs{Refund: refunds.Refund, ChargeCard: cards.Charge, RefundCharge: cards.Refund}
}

// serve runs the server, the sweeper, the dispatcher and a broker's consumer until ctx
// ends; requests and messages in flight are finished first.
func serve(ctx context.Context, logger *slog.Logger, handler http.Handler, svc *api.Service, listener net.Listener) error {
	swept := make(chan error, 1)
	go func() { swept <- svc.Run(ctx) }()
	consumed := make(chan error, 1)
	go func() { consumed <- consumeBroker(ctx, logger, svc) }()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case err := <-consumed:
		if ctx.Err() == nil {
			return err
		}
		consumed <- err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 35*time.Second)
	defer cancel()
	return errors.Join(server.Shutdown(closing), <-swept, <-consumed)
}

func address() string {
	if a := os.Getenv("ADDR"); a != "" {
		return a
	}
	return "127.0.0.1:8080"
}
