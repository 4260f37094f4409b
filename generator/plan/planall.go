package plan

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

func planAll(svc *model.Service, diags *diag.List) []*Operation {
	planners := make([]*planner, len(svc.Operations))
	planned := make([]*Operation, len(svc.Operations))
	for i, m := range svc.Operations {
		planners[i] = &planner{svc: svc, op: m, diags: &diag.List{}}
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(planners)); i = next.Add(1) - 1 {
				planned[i] = planners[i].plan()
			}
		})
	}
	workers.Wait()
	for _, p := range planners {
		diags.Add(p.diags.Sorted()...)
	}
	return slices.DeleteFunc(planned, func(op *Operation) bool { return op == nil })
}

// planner plans one operation.
type planner struct {
	svc   *model.Service
	op    *model.Operation
	diags *diag.List
	units []*unit // one per step
}

// plan returns nil if a statement was refused.
func (p *planner) plan() *Operation {
	for _, s := range p.op.Steps {
		u := newUnit(p, s)
		if u == nil {
			return nil
		}
		p.units = append(p.units, u)
	}
	if len(p.units) == 0 {
		return nil
	}
	out := &Operation{Model: p.op}
	out.Strategy, out.Reason = p.choose()
	out.RoundTrips = 1
	if out.Strategy == Stepped {
		out.Statements = p.steps()
		out.RoundTrips = 2 + len(out.Statements)
		if p.op.Durable() {
			out.RoundTrips = p.durableRoundTrips(len(out.Statements))
		} else if iso := p.op.Policy.Isolation; iso != "" && iso != readCommitted && p.op.Policy.Wait == 0 && p.op.Key.Protects() {
			out.RoundTrips++ // the key row waits for the answer about the lock
		}
	} else {
		u := p.units[0]
		out.MayBeEmpty = u.mayBeEmpty()
		out.Statements = p.single(out.Strategy, u)
	}
	out.Statements = append(out.Statements, p.existing(out.Strategy)...)
	if s, ok := p.session(); ok {
		out.Statements = append(out.Statements, s)
	}
	return out
}

// single are the sections of an operation with one statement.
func (p *planner) single(strategy Strategy, u *unit) []Statement {
	var out []Statement
	switch strategy {
	case Fused:
		out = append(out, p.fused(u))
	case Verbatim:
		out = append(out, p.prior(u), p.claim(u), p.verbatim(u))
	}
	if p.op.Policy.ForceRetry && strategy != Direct {
		out = append(out, p.forced(u))
	}
	if p.needsUnkeyed() {
		out = append(out, p.unkeyed(u))
	}
	return out
}

// needsUnkeyed reports whether a request may run without a key.
func (p *planner) needsUnkeyed() bool {
	key := p.op.Key
	return !key.Protects() || (key.From == keyHeader && !key.Required)
}

// keyHeader is the origin of a key that clients send.
const keyHeader = "header"

// operationName is the operation's stored name.
func (p *planner) operationName() string { return p.svc.Name + "." + p.op.Name }
