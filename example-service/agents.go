package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idemgen/idemgen/adapters/mcp"
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/outbox"
	"github.com/idemgen/idemgen/idem/tool"

	"example.com/payments/internal/api"
	"example.com/payments/internal/db"
)

// agentServer serves the tools to agents of whoever caller says.
func agentServer(svc *api.Service, caller mcp.CallerFunc[api.Caller]) (*sdk.Server, error) {
	box, err := tool.New(svc.Tools(), tool.Options{Secret: agentSecret()})
	if err != nil {
		return nil, err
	}
	return mcp.NewServer(box, caller, mcp.Options{Name: "payments", Version: "1.0.0"})
}

// agentSecret is AGENT_SECRET, which makes the keys of agents' steps. Without one
// they hold as long as the process: a step that is repeated after a restart is
// another one then.
func agentSecret() []byte {
	if secret := os.Getenv("AGENT_SECRET"); secret != "" {
		return []byte(secret)
	}
	slog.Warn("AGENT_SECRET is not set: the keys of agents' steps end with the process")
	return []byte(rand.Text())
}

// agentOf finds the tenant of the API key that an agent's host sends.
func agentOf(q *db.Queries) mcp.CallerFunc[api.Caller] {
	return func(ctx context.Context, req *sdk.CallToolRequest) (api.Caller, error) {
		key, _ := strings.CutPrefix(req.Extra.Header.Get("Authorization"), "Bearer ")
		tenant, err := q.TenantOfKey(ctx, digest(key))
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return api.Caller{}, &idem.Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Try again"}
		}
		return api.Caller{TenantID: tenant}, err
	}
}

// serveStdio serves the tools to one agent over standard input and output, for a
// tenant, until its host closes them.
func serveStdio(ctx context.Context, svc *api.Service, tenant string) error {
	server, err := agentServer(svc, func(context.Context, *sdk.CallToolRequest) (api.Caller, error) {
		return api.Caller{TenantID: tenant}, nil
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- svc.Run(running) }()
	err = mcp.Stdio(ctx, server)
	stop()
	return errors.Join(err, <-ended)
}

// processed delivers the events of agents' steps, and marks the steps once their
// events have arrived. A step that could not be marked has its event delivered
// again, under the same key.
type processed struct {
	to outbox.Sink
	q  *db.Queries
}

// Deliver implements outbox.Sink.
func (p processed) Deliver(ctx context.Context, e outbox.Event) (outbox.Answer, error) {
	var invoice struct{ ID int64 }
	if err := json.Unmarshal(e.Payload, &invoice); err != nil {
		return outbox.Answer{}, outbox.Permanent(err)
	}
	answer, err := p.to.Deliver(ctx, e)
	if err != nil {
		return answer, err
	}
	_, err = p.q.MarkAgentStepProcessed(ctx, db.MarkAgentStepProcessedParams{TenantID: e.Scope, InvoiceID: invoice.ID})
	return answer, err
}
