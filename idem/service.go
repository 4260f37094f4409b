package idem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is the generated half of a service: what idemgen.yaml and the
// annotations say. Emitted code fills it.
type Config struct {
	Service    string // first part of every stored operation name
	Profile    Profile
	Operations []*Operation
	// Caller are the fields of the emitted Caller, in the order in which
	// CallerFunc returns their values. Scope is the index of the one that keys
	// belong to, -1 for `scope: none`.
	Caller []Field
	Scope  int
	// Session are set_config(name, value, true) before the SQL.
	Session []SessionVar
	// UnknownFields: unknown members and query parameters are ignored.
	UnknownFields bool
}

// SessionVar is one entry of `session:`.
type SessionVar struct {
	Name string
	Arg  Arg // ArgScope, ArgKey, ArgLiteral, or ArgField with Field an index into Config.Caller
}

// Profile is the header protocol; semantics.md section 3.
type Profile string

// ProfileIETF follows draft-ietf-httpapi-idempotency-key-header-07.
const ProfileIETF Profile = "ietf"

// CallerFunc says who sends a request: the values of Config.Caller, in order.
// An error, or an empty scope, is answered with 401.
type CallerFunc func(*http.Request) ([]any, error)

// Options is what a service may choose when it starts. The zero value works.
type Options struct {
	Logger      *slog.Logger // slog.Default() if nil
	ProblemBase string       // "urn:idemgen:problem:" if empty
	Sweeper     Sweeper      // Pool is filled in; zero values are defaults
}

// Service runs the operations of one Config over one pool. It is safe for
// concurrent use.
type Service struct{}

// New compiles cfg. It fails if something is missing: a pool, a caller
// function, a query execution mode that can't be used safely.
func New(pool *pgxpool.Pool, cfg Config, caller CallerFunc, opts Options) (*Service, error) {
	return nil, errors.New("to be built")
}

// Operation returns an operation's description, nil if there is none.
func (s *Service) Operation(name Name) *Operation { return nil }

// Handler returns the handler of an operation; path parameters come from
// r.PathValue. It panics if the service has no such operation.
func (s *Service) Handler(name Name) http.Handler { return nil }

// Call runs an operation from Go, with the same claim, transaction and record
// as over HTTP. Caller are the values of Config.Caller, in those of the
// operation's fields (caller's apart). An *Error is the operation's own answer.
func (s *Service) Call(ctx context.Context, name Name, caller []any, key string, in []any, out []OutputColumn) (Meta, error) {
	return Meta{}, nil
}

// Run sweeps until ctx ends and work in flight is done.
func (s *Service) Run(ctx context.Context) error { return nil }

// Ready fails if the runtime's tables are missing or of another version.
func (s *Service) Ready(ctx context.Context) error { return nil }

// Meta is what is known about an answer beside its body.
type Meta struct {
	Status   int
	Replayed bool
	Header   http.Header // declared and stored headers
}

// Optional is an input that may be absent: one with a default, or one that
// has() asks about. Set false: absent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some is a sent value.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }
