package idem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

const maxScopeLength = 255 // bytes

// anonymous is the scope of all keys where the service has `scope: none`, which
// it has for all of its operations.
const anonymous = "-"

// turnAway is the answer to an error of the caller function; an *Error says its
// own status.
func (s *Service) turnAway(ctx context.Context, op *operation, err error) *Error {
	own, wrong := ownError(err)
	if own != nil {
		return own
	}
	if wrong != nil {
		s.logger.ErrorContext(ctx, "the caller function failed", "operation", op.stored, "error", wrong)
		err = wrong
	}
	return unauthenticated(err)
}

func unauthenticated(err error) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: "unauthenticated", Title: "Authentication required", cause: err}
}

// invoke begins an invocation for a caller, whose scope it belongs to.
func (s *Service) invoke(op *operation, caller []any) (*invocation, *Error) {
	values, refused := encodeInputs(s.callers, nil, caller)
	if refused != nil {
		return nil, s.unscoped(refused)
	}
	scope := anonymous
	if s.cfg.Scope >= 0 {
		scope = values[s.cfg.Scope].Text
	}
	if scope == "" || len(scope) > maxScopeLength {
		return nil, unauthenticated(errors.New("idem: the scope must have 1 to 255 bytes"))
	}
	pool, err := s.pools.choose(scope)
	if err != nil {
		return nil, errInternal(err)
	}
	inv := newInvocation(op, pool, scope)
	inv.caller, inv.who = values, caller
	return inv, nil
}

// unscoped is the refusal of the caller's values: keys belong to nobody where the
// scope is among them.
func (s *Service) unscoped(refused *Error) *Error {
	for _, field := range refused.Fields {
		if s.cfg.Scope >= 0 && field.Pointer == s.callers.fields[s.cfg.Scope].pointer {
			return unauthenticated(fmt.Errorf("idem: the scope %s", field.Detail))
		}
	}
	return refused
}

// callerOf picks the caller values that the operation takes.
func (op *operation) callerOf(values []any) []any {
	picked := make([]any, len(op.caller))
	for i, at := range op.caller {
		picked[i] = values[at]
	}
	return picked
}
