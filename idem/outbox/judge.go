package outbox

import (
	"bytes"
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
		return nil
	}
	err := fmt.Errorf("the receiver answered %d %s", status, http.StatusText(status))
	if isPermanent(response, content) {
		return Permanent(err)
	}
	return RetryAfter(retryAfter(response.Header.Get("Retry-After"), now), err)
}

// isPermanent: another try would get the same answer. What the receiver says in
// x-should-retry counts before the status.
func isPermanent(response *http.Response, content []byte) bool {
	switch strings.ToLower(strings.TrimSpace(response.Header.Get("X-Should-Retry"))) {
	case "true":
		return false
	case "false":
		return true
	}
	switch status := response.StatusCode; status {
	case http.StatusTooManyRequests:
		return bytes.Contains(content, []byte("enforced_spend_limit_reached"))
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return false
	default:
		return status < 500
	}
}

// retryAfter reads seconds or a date (RFC 9110 section 10.2.3); 0 where there is
// neither. It is at most a day: what is longer would be as good as dead, and
// nobody would know.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), 24*time.Hour)
}
