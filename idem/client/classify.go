package client

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// spendLimit is what a 429 says that no waiting heals.
const spendLimit = "enforced_spend_limit_reached"

// transientStatus reports the answers after which the same request may fare
// better.
func transientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		529: // overloaded
		return true
	}
	return false
}

// transientAnswer judges an answer; peeked is the beginning of the body of a 429.
// What the server says of itself (x-should-retry) has the last word but one: a spend
// limit is permanent whatever else is said.
func (p Profile) transientAnswer(r *http.Response, peeked []byte) bool {
	if r.StatusCode < 400 {
		return p.inFlight(r)
	}
	if r.StatusCode == http.StatusTooManyRequests && bytes.Contains(peeked, []byte(spendLimit)) {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(r.Header.Get("X-Should-Retry"))) {
	case "true":
		return true
	case "false":
		return false
	}
	return transientStatus(r.StatusCode)
}

// transientError judges a try without an answer: the connection could not be made,
// broke, or took too long. A server that is not who it should be stays that.
func transientError(err error) bool {
	var final *finalError
	var certificate *tls.CertificateVerificationError
	return !errors.As(err, &final) && !errors.As(err, &certificate)
}

// unsent reports that a try failed before any of it was sent.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// finalError is a fault of this side, which another try meets again.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// never is longer than anybody waits.
const never = 100 * 365 * 24 * time.Hour

// retryAfter is the wait that an answer demands (RFC 9110 section 10.2.3); 0: none.
// A date is measured from the server's own Date, so that wrong clocks don't matter.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(never/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), never)
}

const (
	firstWait = 500 * time.Millisecond
	lastWait  = 8 * time.Second
)

// backoff is the wait after the given try: 0.5 s doubling to 8 s, of which up to a
// quarter is taken off at random. What the server demands is a minimum, to which up
// to a quarter of the own wait is added: everybody was told the same moment.
func backoff(try int, demanded time.Duration, random float64) time.Duration {
	own := min(firstWait<<min(try-1, 10), lastWait)
	jitter := time.Duration(float64(own) / 4 * random)
	if demanded > 0 {
		return max(demanded+jitter, own-jitter)
	}
	return own - jitter
}
