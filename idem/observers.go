package idem

import (
	"context"
	"log/slog"
)

// Observers joins several observers: each is told of everything that it
// implements, in their order, whatever becomes of the others. Nil ones are left
// out; it is nil where none is left. What it returns is a StartObserver, a
// RetryObserver and a SweepObserver as well.
func Observers(all ...Observer) Observer {
	if joined := join(nil, all...); joined != nil {
		return joined
	}
	return nil
}

// observers are told one by one: what one of them does wrong is logged, and
// keeps no other from being told.
type observers struct {
	all    []Observer
	begins bool         // there is a StartObserver
	logger *slog.Logger // nil: slog.Default
}

// join takes joined observers apart. Nil: nobody listens.
func join(logger *slog.Logger, all ...Observer) *observers {
	joined := &observers{logger: logger}
	for _, o := range all {
		if several, ok := o.(*observers); ok {
			joined.all = append(joined.all, several.all...)
		} else if o != nil {
			joined.all = append(joined.all, o)
		}
	}
	for _, o := range joined.all {
		if _, ok := o.(StartObserver); ok {
			joined.begins = true
		}
	}
	if len(joined.all) == 0 {
		return nil
	}
	return joined
}

// OperationStarted implements StartObserver.
func (o *observers) OperationStarted(ctx context.Context, start OperationStart) context.Context {
	tell(ctx, o, func(one StartObserver) {
		if derived := one.OperationStarted(ctx, start); derived != nil {
			ctx = derived
		}
	})
	return ctx
}

// OperationEnded implements Observer.
func (o *observers) OperationEnded(ctx context.Context, end OperationEnd) {
	tell(ctx, o, func(one Observer) { one.OperationEnded(ctx, end) })
}

// OperationRetried implements RetryObserver.
func (o *observers) OperationRetried(ctx context.Context, retry OperationRetry) {
	tell(ctx, o, func(one RetryObserver) { one.OperationRetried(ctx, retry) })
}

// KeysSwept implements SweepObserver.
func (o *observers) KeysSwept(ctx context.Context, end SweepEnd) {
	tell(ctx, o, func(one SweepObserver) { one.KeysSwept(ctx, end) })
}

// tell calls those that implement T.
func tell[T any](ctx context.Context, o *observers, call func(T)) {
	for _, one := range o.all {
		if listener, ok := one.(T); ok {
			guard(ctx, o.logger, func() { call(listener) })
		}
	}
}

// guard calls an observer, whose panics must not reach who tells it.
func guard(ctx context.Context, logger *slog.Logger, call func()) {
	defer func() {
		if p := recover(); p != nil {
			if logger == nil {
				logger = slog.Default()
			}
			logger.ErrorContext(ctx, "the observer panicked", "error", panicError(p))
		}
	}()
	call()
}
