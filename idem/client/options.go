package client

import (
	"net/http"
	"time"
)

// Options say how requests are sent and repeated. The zero value works: six tries
// in at most a minute.
type Options struct {
	// Profile names the key header and the form of its value; "" is IETF.
	Profile Profile
	// Transport sends one try; nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Header is sent with every request that does not have the field itself.
	Header http.Header
	// Prepare is called before each try, with the request that is about to be sent,
	// for what must be fresh: tokens, trace headers. Its error ends the call.
	Prepare func(*http.Request) error

	// MaxTries bounds the tries of one call, the first one included; 0 means 6, 1
	// means that nothing is repeated.
	MaxTries int
	// MaxElapsed bounds the time of one call, from its beginning until the head of
	// the last answer has come, waits included (for Call: until the answer is read).
	// 0 means a minute; below 0 only the context bounds it. A wait that would go past
	// the bound is not begun: the last answer is the answer.
	MaxElapsed time.Duration
	// TryTimeout bounds one try in the same way; 0: not at all.
	TryTimeout time.Duration
	// MaxBody bounds the bytes of an answer that Call reads; 0 means 32 MiB.
	MaxBody int64
	// MaxBuffer bounds the memory for a request body that can't be read twice
	// (http.Request.GetBody is nil); 0 means 1 MiB, below 0 none. A larger one is sent
	// once. Such a body is read to its end, or to the bound, before the first try.
	MaxBuffer int64

	// Observe is told of every try, when its answer has come or it has failed. It is
	// called by many goroutines at once.
	Observe func(Attempt)
	// Clock replaces the machine's clock, for tests.
	Clock Clock

	random func() float64 // in [0, 1); for tests
}

const (
	defaultTries   = 6
	defaultElapsed = time.Minute
	defaultBody    = 32 << 20
	defaultBuffer  = 1 << 20
)

// Clock is the time that waits and bounds are measured by.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine when d has passed, unless stop is called
	// before; stop reports whether it was in time.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Attempt is what became of one try.
type Attempt struct {
	Number  int // from 1
	Status  int // 0: no answer
	Err     error
	Retry   bool          // another try follows
	Wait    time.Duration // until it does
	Took    time.Duration
	Request *http.Request // as it was sent; not to be changed
}

func orDefault[T int | int64 | time.Duration](given, fallback T) T {
	if given == 0 {
		return fallback
	}
	return given
}

// withDefaults is a copy in which nothing is left open.
func (o Options) withDefaults() Options {
	o.Header = o.Header.Clone()
	o.MaxTries = orDefault(o.MaxTries, defaultTries)
	o.MaxElapsed = orDefault(o.MaxElapsed, defaultElapsed)
	o.MaxBody = orDefault(o.MaxBody, int64(defaultBody))
	o.MaxBuffer = orDefault(o.MaxBuffer, int64(defaultBuffer))
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Clock == nil {
		o.Clock = machineClock{}
	}
	if o.Profile == "" {
		o.Profile = IETF
	}
	return o
}
