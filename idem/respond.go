package idem

import (
	"net/http"
	"strconv"
	"time"
)

// The headers of profile ietf.
const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
)

// respond writes an answer. Key is the valid key that the client sent, "" if
// none.
func respond(w http.ResponseWriter, r *http.Request, ans *answer, key string, keyed bool) {
	header := w.Header()
	for name, value := range storable(ans.headers) {
		header.Set(name, value)
	}
	if key != "" {
		header.Set(keyHeader, quoteKey(key))
	}
	if keyed {
		header.Set(replayedHeader, strconv.FormatBool(ans.replayed))
	}
	adviseRetry(header, ans)
	if !hasBody(ans.status) {
		header.Del("Content-Type")
		w.WriteHeader(ans.status)
		return
	}
	if header.Get("Content-Type") == "" && len(ans.body) > 0 {
		header.Set("Content-Type", "application/json")
	}
	header.Set("Content-Length", strconv.Itoa(len(ans.body)))
	w.WriteHeader(ans.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(ans.body) // a client that is gone gets it by a replay
	}
}

// adviseRetry says what a client may do about an answer above 399. About one of
// 500 nothing is known.
func adviseRetry(header http.Header, ans *answer) {
	switch {
	case ans.retryAfter > 0:
		header.Set("X-Should-Retry", "true")
		header.Set("Retry-After", strconv.Itoa(int((ans.retryAfter+time.Second-1)/time.Second)))
	case ans.status < 400, ans.status == http.StatusTooManyRequests, ans.status >= 500 && !ans.replayed && !ans.stored:
	default:
		header.Set("X-Should-Retry", "false")
	}
}

// hasBody: RFC 9110 sections 15.2, 15.3.5, 15.3.6 and 15.4.5.
func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusResetContent &&
		status != http.StatusNotModified
}
