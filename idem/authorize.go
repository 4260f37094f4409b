package idem

import (
	"context"
	"errors"
	"net/http"
)

// authorized asks Options.AuthorizeReplay about a replay; any other answer
// passes. No connection is held here, and no copy of the request waits for this
// one.
func (s *Service) authorized(ctx context.Context, inv *invocation, ans *answer) *answer {
	if s.authorize == nil || !ans.replayed || inv.delivered {
		return ans
	}
	err := s.askAuthorizer(ctx, inv)
	own, wrong := ownError(err)
	if wrong != nil {
		err = wrong
	}
	switch {
	case err == nil:
		return ans
	case own != nil:
		return s.refuse(inv, own)
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // the client has gone
		return s.refuse(inv, errUnattended())
	case errors.Is(err, context.DeadlineExceeded):
		return s.refuse(inv, errUnavailable(err)) // who decides could not be asked
	case errors.Is(err, errAuthorizerPanicked):
		return s.breakdown(ctx, inv, err)
	}
	s.logger.WarnContext(ctx, "replay refused", "operation", inv.op.stored, "request", inv.occurrence(), "error", err)
	return s.refuse(inv, errForbidden(err))
}

var errAuthorizerPanicked = errors.New("idem: Options.AuthorizeReplay panicked")

func (s *Service) askAuthorizer(ctx context.Context, inv *invocation) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(errAuthorizerPanicked, panicError(p))
		}
	}()
	return s.authorize(ctx, inv.op.Name, inv.who)
}

func errForbidden(cause error) *Error {
	return &Error{Status: http.StatusForbidden, Code: "forbidden", Title: "Forbidden",
		Detail: "The recorded answer may not be shown to this caller.", cause: cause}
}
