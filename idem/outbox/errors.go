package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// failed is an error of a sink that says what to do next.
type failed struct {
	err       error
	permanent bool
	after     time.Duration
	late      bool // the end of a context
}

func (f *failed) Error() string { return f.err.Error() }
func (f *failed) Unwrap() error { return f.err }

// Permanent marks an error that another try would meet again: the event is DEAD
// at once, with the error's text as its reason. It is nil if err is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &failed{err: err, permanent: true}
}

// RetryAfter marks an error after which the next try comes no sooner than d. It
// is nil if err is nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &failed{err: err, after: d}
}

// Is tells the end of a context once the error itself is not asked any more.
func (f *failed) Is(target error) bool { return f.late && target == context.DeadlineExceeded }

// told is all that a sink's error has to say. Its methods are the sink's as well: they
// may panic, of a pointer that is nil for one, and are not called after this.
func told(err error) error {
	if err == nil {
		return nil
	}
	f := &failed{err: errors.New(reasonOf(err)), late: errors.Is(err, context.DeadlineExceeded)}
	f.permanent, f.after = what(err)
	return f
}

// what says what to do about a sink's error: the outermost mark counts.
func what(err error) (permanent bool, after time.Duration) {
	var f *failed
	if errors.As(err, &f) {
		return f.permanent, f.after
	}
	return false, 0
}

// maxReason is in bytes.
const maxReason = 500

// reasonOf is an error as a text that PostgreSQL takes.
func reasonOf(err error) string {
	text := strings.ReplaceAll(err.Error(), "\x00", "")
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	text = strings.ToValidUTF8(text, "")
	if text == "" {
		return "an error without a text"
	}
	return text
}

// errPanic is a sink's panic. It is logged with its stack, and recorded without.
func errPanic(v any) error { return fmt.Errorf("the sink panicked: %v", v) }

// Causes of a delivery's end that are no fault of the sink.
var (
	errLeaseLost = errors.New("the lease is lost: another dispatcher has the event, or an operator")
	errStopped   = errors.New("the dispatcher stops")
)
