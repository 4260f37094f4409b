package idem

import (
	"context"
	"fmt"
)

// Call runs an operation from Go, with the same claim, transaction and record
// as over HTTP. Caller are the values of Config.Caller, in those of the
// operation's fields (caller's apart). An *Error is the operation's own answer.
// Where ctx ends first, the work goes on: the same call again gets its answer.
func (s *Service) Call(ctx context.Context, name Name, caller []any, key string, in []any, out []OutputColumn) (Meta, error) {
	op := s.operations[name]
	if op == nil {
		return Meta{}, fmt.Errorf("idem: the service has no operation %q", name)
	}
	if op.Async {
		return Meta{}, fmt.Errorf("idem: operation %s is async: Submit it", name)
	}
	ans, meta, err := s.callFor(ctx, op, caller, key, in)
	if err != nil || len(ans.body) == 0 || len(out) == 0 {
		return meta, err
	}
	return meta, scanOutput(ans.body, out)
}

// callFor runs an operation from Go. The error is an *Error where the answer is
// one.
func (s *Service) callFor(ctx context.Context, op *operation, caller []any, key string, in []any) (*answer, Meta, error) {
	return s.callWith(ctx, op, func() (*invocation, *Error) { return s.called(op, caller, key, in) })
}

// callWith is callFor of inputs in whatever form they come: admit reads them.
func (s *Service) callWith(ctx context.Context, op *operation, admit func() (*invocation, *Error)) (*answer, Meta, error) {
	seen := s.watch(ctx, op)
	ctx = seen.context(ctx)
	inv, refused := admit()
	if refused != nil {
		s.logRefused(ctx, op, newInstance(), refused)
		seen.end(nil, &answer{status: refused.Status, err: refused, event: refused.event})
		return nil, Meta{Status: refused.Status}, refused
	}
	inv.seen = seen
	if op.emits || op.runsGo() {
		inv.trace = traceOf(ctx, nil).json()
	}
	ans, err := s.serve(ctx, inv)
	if err != nil {
		return nil, Meta{}, err
	}
	meta := ans.meta()
	if ans.isProblem() {
		return nil, meta, ans.asError()
	}
	return ans, meta, nil
}

// called reads the inputs of a call, as admit does those of a request.
func (s *Service) called(op *operation, caller []any, key string, in []any) (*invocation, *Error) {
	if len(caller) != len(s.cfg.Caller) {
		return nil, errInternal(fmt.Errorf("idem: %d caller values, not %d", len(caller), len(s.cfg.Caller)))
	}
	inv, refused := s.invoke(op, caller)
	if refused != nil {
		return nil, refused
	}
	if inv.values, refused = encodeInputs(op.decoder, in, op.callerOf(caller)); refused != nil {
		return nil, refused
	}
	if op.Key.From != KeyHeader && op.Key.From != KeyDelivery && op.Key.From != KeyMessage {
		key = "" // it is made of inputs, or there is none
	}
	if key != "" && !validKey(key) {
		return nil, s.protocol.errKeyInvalid("It must be 1 to 255 visible ASCII characters.")
	}
	inv.client = key
	if refused := inv.chooseKey(key, s.protocol); refused != nil {
		return nil, refused
	}
	inv.print = op.decoder.fingerprint(inv.values)
	return inv, nil
}
