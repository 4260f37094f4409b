package idem

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

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

// CallerFunc says who sends a request: the values of Config.Caller, in order.
// An error, or an empty scope, is answered with 401; an *Error with a status from
// 400 to 599 as it is. A text that is no value of its field, not UTF-8 for one, is
// 400 caller-invalid, and 401 where it is the scope.
type CallerFunc func(*http.Request) ([]any, error)

// Service runs the operations of one Config over one pool, or one per scope.
// It is safe for concurrent use.
type Service struct {
	pools       *pools
	cfg         Config
	protocol    *protocol
	caller      CallerFunc
	callers     *decoder // of Config.Caller
	operations  map[Name]*operation
	flights     *flights
	work        tally         // requests in flight
	grace       time.Duration // from an operation's timeout to its cut-off: afterTimeout
	logger      *slog.Logger
	observers   *observers                               // nil: nobody
	aead        cipher.AEAD                              // nil: nothing is sealed
	authorize   func(context.Context, Name, []any) error // Options.AuthorizeReplay
	problemBase string
	own         *ownProblems // nil: the profile's
	funcs       functions
	hooks       map[string]*hook // by system
	topics      map[string]*topic
	messageOf   func(Message) (string, error) // Options.MessageScope
	sweeper     Sweeper
	completer   Completer
	wakes       map[*pool]*wake // of the completers, by pool
	outbox      Outbox          // nil: other processes dispatch
}

// New compiles cfg. It fails if something is missing: a pool, a caller
// function, a query execution mode that can't be used safely. Pool may be nil
// where opts.Pool chooses one by scope.
func New(pool *pgxpool.Pool, cfg Config, caller CallerFunc, opts Options) (*Service, error) {
	if caller == nil {
		return nil, errors.New("idem: there is no caller function: keys must belong to someone")
	}
	if cfg.Service == "" {
		return nil, errors.New("idem: Config.Service is empty")
	}
	if protocols[cfg.Profile] == nil {
		return nil, fmt.Errorf("idem: unknown profile %q", cfg.Profile)
	}
	if cfg.Scope >= len(cfg.Caller) {
		return nil, fmt.Errorf("idem: the scope is field %d of %d of the caller", cfg.Scope, len(cfg.Caller))
	}
	s, err := newService(pool, cfg, opts)
	if err != nil {
		return nil, err
	}
	s.caller = caller
	if err := s.compile(); err != nil {
		return nil, err
	}
	return s, errors.Join(s.compileHooks(opts.Webhooks), s.compileTopics())
}

// newService is what every use of a pool needs.
func newService(pool *pgxpool.Pool, cfg Config, opts Options) (*Service, error) {
	pools, err := newPools(pool, &opts)
	if err != nil {
		return nil, err
	}
	own, err := newOwnProblems(opts.Problem, cfg.Operations)
	if err != nil {
		return nil, err
	}
	s := &Service{
		pools: pools, cfg: cfg, protocol: protocols[cfg.Profile], flights: newFlights(), logger: opts.Logger, problemBase: opts.ProblemBase,
		sweeper: opts.Sweeper, aead: opts.Seal,
		own: own, authorize: opts.AuthorizeReplay, grace: afterTimeout,
		funcs: functions{opts.Go, opts.Call, opts.Undo}, completer: opts.Completer.orDefault(), wakes: newWakes(pools),
		outbox: opts.Outbox, messageOf: opts.MessageScope,
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	s.observers = join(s.logger, opts.Observer)
	if s.problemBase == "" {
		s.problemBase = "urn:idemgen:problem:"
	}
	if s.sweeper.Logger == nil {
		s.sweeper.Logger = s.logger
	}
	if s.sweeper.Observer == nil && s.observers != nil {
		s.sweeper.Observer = s.observers
	}
	return s, nil
}

func (s *Service) compile() error {
	callers, err := compileFields(&Operation{Name: "caller", Fields: s.cfg.callerFields()}, true)
	if err != nil {
		return fmt.Errorf("idem: caller: %w", err)
	}
	s.callers = callers
	s.operations = make(map[Name]*operation, len(s.cfg.Operations))
	for _, op := range s.cfg.Operations {
		if _, twice := s.operations[op.Name]; twice {
			return fmt.Errorf("idem: operation %s occurs twice", op.Name)
		}
		compiled, err := compileOperation(&s.cfg, op, s.funcs)
		if err != nil {
			return fmt.Errorf("idem: operation %s: %w", op.Name, err)
		}
		if err := s.checkSeal(op); err != nil {
			return err
		}
		s.operations[op.Name] = compiled
	}
	return s.missingFuncs()
}

// callerFields are Config.Caller, read as what CallerFunc returns.
func (c *Config) callerFields() []Field {
	fields := slices.Clone(c.Caller)
	for i := range fields {
		fields[i].From = FromCaller
	}
	return fields
}

// Operation returns an operation's description, nil if there is none.
func (s *Service) Operation(name Name) *Operation {
	if op := s.operations[name]; op != nil {
		return op.Operation
	}
	return nil
}

// Handler returns the handler of an operation; path parameters come from
// r.PathValue. It panics if the service has no such operation.
// That of a webhook serves all operations of its system.
func (s *Service) Handler(name Name) http.Handler {
	if h := s.hookOf(name); h != nil {
		return h
	}
	return s.handler(name)
}

// EscapedHandler is Handler for routers that match the path as it was sent,
// such as chi: they leave path parameters percent-encoded where the path has
// a form of its own ("%2F"). net/http's ServeMux decodes them.
func (s *Service) EscapedHandler(name Name) http.Handler {
	if h := s.hookOf(name); h != nil {
		return h
	}
	h := s.handler(name)
	h.escaped = true
	return h
}

func (s *Service) handler(name Name) *handler {
	op := s.operations[name]
	if op == nil {
		panic(fmt.Sprintf("idem: the service has no operation %q", name))
	}
	if op.Consumer.Topic != "" {
		panic(fmt.Sprintf("idem: operation %q takes messages, not requests: see Consume", name))
	}
	return &handler{s: s, op: op}
}

// Run sweeps and completes, every pool of its own accord, and dispatches events
// where Options.Outbox is set, until ctx ends and work in flight is done. Completing is what async operations are done by, and how
// those with calls go on whose process or client is gone.
func (s *Service) Run(ctx context.Context) error {
	completed := make(chan error, 1)
	go func() { completed <- s.completeAll(ctx) }()
	dispatched := make(chan error, 1)
	go func() { dispatched <- s.dispatchAll(ctx) }()
	err := errors.Join(s.sweepAll(ctx), <-completed, <-dispatched)
	if left := s.work.wait(s.longest()); left > 0 {
		err = errors.Join(err, fmt.Errorf("idem: %d operations still wait for PostgreSQL", left))
	}
	return err
}

// longest is how long work in flight can take as long as the server answers.
func (s *Service) longest() time.Duration {
	longest := s.grace
	for _, op := range s.cfg.Operations {
		longest = max(longest, op.Policy.Timeout+2*op.Policy.longestWait()+s.grace, s.operations[op.Name].longest(s.grace))
	}
	return longest
}

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
