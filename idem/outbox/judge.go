package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// judge says what an answer means: nil is success.
func judge(response *http.Response, content []byte, now time.Time) error {
	status := response.StatusCode
	if status >= 200 && status < 300 {
		if strings.EqualFold(response.Header.Get("X-Idempotency-Status"), "processing") {
			return errors.New("the receiver is still at an earlier delivery")
		}
		return nil
	}
	err := fmt.Errorf("the receiver answered %d %s", status, http.StatusText(status))
	if isPermanent(response, content) {
		return Permanent(err)
	}
	return RetryAfter(retryAfter(response.Header, now), err)
}

// isPermanent: another try would get the same answer. What the receiver says in
// x-should-retry counts before the status; a spend limit counts before both.
func isPermanent(response *http.Response, content []byte) bool {
	if response.StatusCode == http.StatusTooManyRequests && bytes.Contains(content, []byte("enforced_spend_limit_reached")) {
		return true
	}
	switch strings.ToLower(strings.TrimSpace(response.Header.Get("X-Should-Retry"))) {
	case "true":
		return false
	case "false":
		return true
	}
	switch status := response.StatusCode; status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return status < 500
	}
}

// retryAfter reads seconds or a date (RFC 9110 section 10.2.3); 0 where there is
// neither. A date is measured from the receiver's own Date, so that wrong clocks don't
// matter. It is at most a day: what is longer would be as good as dead, and nobody
// would know.
func retryAfter(header http.Header, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	text := strings.TrimSpace(header.Get("Retry-After"))
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(longest/time.Second))) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	return min(max(date.Sub(now), 0), longest)
}
