package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/internal/api"
	"github.com/idemgen/idemgen/bench/internal/steps"
)

// contender records a payment for an order, once per key, or what is the limit of
// that.
type contender struct {
	name   string
	run    func(ctx context.Context, r request) error
	base   string // the contender without idempotency that is called in the same way
	byHand string // the contender that does the same without idemgen
	keyed  bool   // it knows the keys that it has seen
	reads  bool   // it only reads
	event  bool   // it writes a second row
}

// Names of contenders. Those with HTTP in their name are handlers, called with a
// request without a socket; the others are calls from Go.
const (
	bareInsert   = "bare INSERT"
	bareHTTP     = "bare INSERT, HTTP by hand"
	readByHand   = "SELECT by primary key, HTTP by hand"
	readEmitted  = "SELECT by primary key, HTTP of idemgen"
	oneByHand    = "textbook transaction"
	twoByHand    = "textbook transaction of two writes"
	fusedCall    = "idemgen fused"
	overHTTP     = "idemgen fused, HTTP"
	verbatimCall = "idemgen verbatim"
	steppedCall  = "idemgen stepped, two writes"
	goCall       = "idemgen Go handler"
	redisHTTP    = "Redis middleware, HTTP"
	fiberHTTP    = "Fiber's middleware in memory, HTTP"
	fiberRedis   = "Fiber's middleware with Redis, HTTP"
	dbosCall     = "DBOS Transact"
)

// place is where contenders run: the servers, the network to them, and how many
// clients there are.
type place struct {
	url     string
	redis   string // its address; "" where there is none
	wire    *wire
	clients int
	mode    pgx.QueryExecMode
	dbos    bool
}

// pool connects to the database of the place, through its network.
func (p place) pool(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(p.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	config.ConnConfig.DialFunc = p.wire.dial
	if p.mode != 0 {
		config.ConnConfig.DefaultQueryExecMode = p.mode
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// field is all contenders at one place.
type field struct {
	place
	all    []contender
	closes []func() error
}

// newField prepares every way to record a payment that one run compares. Those
// over PostgreSQL share one pool of as many connections as there are clients.
func newField(ctx context.Context, p place) (_ *field, err error) {
	f := &field{place: p}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	pool, err := p.pool(ctx, p.clients)
	if err != nil {
		return nil, err
	}
	f.closes = append(f.closes, func() error { pool.Close(); return nil })
	f.all = byHandContenders(pool)
	own, err := idemgenContenders(pool)
	if err != nil {
		return nil, err
	}
	f.all = append(f.all, own...)
	if err := f.addRedis(ctx, pool); err != nil {
		return nil, err
	}
	f.addFiber(pool)
	if p.dbos {
		return f, f.addDBOS(ctx)
	}
	return f, nil
}

// close ends what the contenders have open.
func (f *field) close() error {
	var all []error
	for _, shut := range slices.Backward(f.closes) {
		all = append(all, shut())
	}
	return errors.Join(all...)
}

// get is the contender of a name, which must be there.
func (f *field) get(name string) contender {
	return f.all[slices.IndexFunc(f.all, func(c contender) bool { return c.name == name })]
}

// idemgenContenders are the emitted operations, by strategy.
func idemgenContenders(pool *pgxpool.Pool) ([]contender, error) {
	caller := api.Caller{TenantID: tenant}
	svc, err := api.New(pool, api.Options{
		Caller: func(*http.Request) (api.Caller, error) { return caller, nil },
		Go:     api.Funcs{RecordPayment: steps.RecordPayment},
	})
	if err != nil {
		return nil, err
	}
	router := chi.NewRouter()
	if err := svc.Mount(router); err != nil {
		return nil, err
	}
	return []contender{
		{name: fusedCall, keyed: true, base: bareInsert, byHand: oneByHand, run: func(ctx context.Context, r request) error {
			_, _, err := svc.CreatePayment(ctx, caller, r.key, api.CreatePaymentInput{OrderID: r.order, Amount: amount})
			return err
		}},
		{name: overHTTP, keyed: true, base: bareHTTP, run: func(ctx context.Context, r request) error {
			return post(ctx, router, r)
		}},
		{name: verbatimCall, keyed: true, base: bareInsert, byHand: oneByHand, run: func(ctx context.Context, r request) error {
			_, _, err := svc.CreatePaymentAsWritten(ctx, caller, r.key, api.CreatePaymentAsWrittenInput{OrderID: r.order, Amount: amount})
			return err
		}},
		{name: goCall, keyed: true, base: bareInsert, byHand: oneByHand, run: func(ctx context.Context, r request) error {
			_, _, err := svc.CreatePaymentInGo(ctx, caller, r.key, api.CreatePaymentInGoInput{OrderID: r.order, Amount: amount})
			return err
		}},
		{name: steppedCall, keyed: true, event: true, base: bareInsert, byHand: twoByHand, run: func(ctx context.Context, r request) error {
			_, _, err := svc.CreatePaymentWithEvent(ctx, caller, r.key, api.CreatePaymentWithEventInput{OrderID: r.order, Amount: amount})
			return err
		}},
		{name: readEmitted, reads: true, base: readByHand, run: reader(pool, router)},
	}, nil
}

// day is how long records are kept, by all who keep them.
const day = 24 * time.Hour
