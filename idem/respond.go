package idem

import (
	"net/http"
	"strconv"
	"time"
)

// respond writes an answer in the profile's protocol. Key is the valid key that
// the client sent, "" if none; keyed says that the request came as far as the
// checks with a key.
func (h *handler) respond(w http.ResponseWriter, r *http.Request, ans *answer, key string, keyed bool) {
	ans = represent(w, r, ans)
	header, protocol := w.Header(), h.s.protocol
	for name, value := range storable(ans.headers) {
		header.Set(name, value)
	}
	if key != "" {
		header.Set(protocol.keyHeader, protocol.writeKey(key))
	}
	if keyed {
		header.Set(protocol.told, protocol.replayed(ans))
	}
	adviseRetry(header, ans)
	status, body := protocol.statusOf(ans), ans.body
	if status != ans.status { // told by the status and the headers alone
		body = nil
		header.Del("Content-Type")
	}
	if !hasBody(status) {
		header.Del("Content-Type")
		w.WriteHeader(status)
		return
	}
	if header.Get("Content-Type") == "" && len(body) > 0 {
		header.Set("Content-Type", "application/json")
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that is gone gets it by a replay
	}
}

// adviseRetry says what a client may do about an answer above 399. About one of
// 500 nothing is known.
func adviseRetry(header http.Header, ans *answer) {
	switch {
	case ans.retryAfter > 0:
		header.Set(shouldRetryHeader, "true")
		header.Set(retryAfterHeader, strconv.Itoa(int((ans.retryAfter+time.Second-1)/time.Second)))
	case ans.status < 400, ans.status == http.StatusTooManyRequests, ans.status >= 500 && !ans.replayed && !ans.stored:
	default:
		header.Set(shouldRetryHeader, "false")
	}
}

// hasBody: RFC 9110 sections 15.2, 15.3.5, 15.3.6 and 15.4.5.
func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusResetContent &&
		status != http.StatusNotModified
}
