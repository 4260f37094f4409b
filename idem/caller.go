package idem

import (
	"errors"
	"net/http"
)

const maxScopeLength = 255 // bytes

// anonymous is the scope of all keys where the service has `scope: none`, which
// it has for all of its operations.
const anonymous = "-"

// unauthenticated is the answer to an error of the caller function; an *Error
// says its own status.
func unauthenticated(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{Status: http.StatusUnauthorized, Code: "unauthenticated", Title: "Authentication required", cause: err}
}

// invoke begins an invocation for a caller, whose scope it belongs to.
func (s *Service) invoke(op *operation, caller []any) (*invocation, *Error) {
	values, refused := encodeInputs(s.callers, nil, caller)
	if refused != nil {
		return nil, refused
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

// callerOf picks the caller values that the operation takes.
func (op *operation) callerOf(values []any) []any {
	picked := make([]any, len(op.caller))
	for i, at := range op.caller {
		picked[i] = values[at]
	}
	return picked
}
