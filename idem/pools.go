package idem

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pool is a pgxpool.Pool and what the runtime asks of it once.
type pool struct {
	*pgxpool.Pool
	name   string // its database, in messages and events
	named  bool   // prepared statements may have names
	tracer pgx.QueryTracer
	aside  time.Duration // how long statements beside the operation itself are waited for
}

func newPool(p *pgxpool.Pool) (*pool, error) {
	conn := p.Config().ConnConfig
	known := &pool{
		Pool: p, name: databaseOf(conn), tracer: conn.Tracer, aside: asideTime,
		named: conn.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement,
	}
	if conn.DefaultQueryExecMode == pgx.QueryExecModeDescribeExec {
		return nil, fmt.Errorf("idem: the pool of %s: QueryExecModeDescribeExec is not safe behind a pooler: "+
			"a statement can be described on one server connection and run on another; use QueryExecModeExec", known.name)
	}
	return known, nil
}

func databaseOf(conn *pgx.ConnConfig) string { return conn.Host + "/" + conn.Database }

// pools are the databases of a service: one, or one of several by scope.
type pools struct {
	all   []*pool // each once
	known map[*pgxpool.Pool]*pool
	of    func(scope string) *pgxpool.Pool
}

// newPools checks what every use of a pool needs. Where opts choose a pool by
// scope, one may be nil.
func newPools(one *pgxpool.Pool, opts *Options) (*pools, error) {
	p := &pools{of: opts.Pool, known: map[*pgxpool.Pool]*pool{}}
	switch {
	case opts.Pool == nil && len(opts.Pools) > 0:
		return nil, errors.New("idem: Options.Pools is set, but Options.Pool is nil: nothing says which scope uses which pool")
	case opts.Pool != nil && len(opts.Pools) == 0:
		return nil, errors.New("idem: Options.Pool is set, but Options.Pools is empty: it lists every pool that Options.Pool gives, for the sweeper and Ready")
	case opts.Pool == nil && one == nil:
		return nil, errors.New("idem: there is no pool")
	case one != nil:
		if err := p.add(one); err != nil {
			return nil, err
		}
	}
	for i, given := range opts.Pools {
		if given == nil {
			return nil, fmt.Errorf("idem: Options.Pools[%d] is nil", i)
		}
		if err := p.add(given); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pools) add(given *pgxpool.Pool) error {
	if p.known[given] != nil {
		return nil
	}
	known, err := newPool(given)
	if err != nil {
		return err
	}
	p.all = append(p.all, known)
	p.known[given] = known
	return nil
}

// choose finds the pool of a scope. An error is a fault of Options.Pool; it does
// not name the scope, which may be personal.
func (p *pools) choose(scope string) (chosen *pool, err error) {
	if p.of == nil {
		return p.all[0], nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("idem: Options.Pool panics: %v\n%s", v, debug.Stack())
		}
	}()
	given := p.of(scope)
	if given == nil {
		return nil, errors.New("idem: Options.Pool gives no pool for the scope of this request")
	}
	if chosen = p.known[given]; chosen == nil {
		return nil, errors.New("idem: Options.Pool gives a pool that Options.Pools does not list")
	}
	return chosen, nil
}

// each calls do for all pools at once. Where there are several, its errors name
// the database.
func (p *pools) each(do func(*pool) error) error {
	all := make([]error, len(p.all))
	var calls sync.WaitGroup
	for i, one := range p.all {
		calls.Go(func() {
			all[i] = do(one)
			if all[i] != nil && len(p.all) > 1 {
				all[i] = fmt.Errorf("%s: %w", one.name, all[i])
			}
		})
	}
	calls.Wait()
	return errors.Join(all...)
}

// sweepAll runs a sweeper per pool until ctx ends.
func (s *Service) sweepAll(ctx context.Context) error {
	return s.pools.each(func(p *pool) error {
		sweeper := s.sweeper
		sweeper.Pool = p.Pool
		return sweeper.Run(ctx)
	})
}
