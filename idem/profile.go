package idem

import (
	"net/http"
	"strconv"
)

// Profile is the header protocol: which headers carry the key and what was made
// of it, which keys are accepted, and how refusals look.
type Profile string

// The profiles; docs/semantics.md has what differs as a table.
const (
	// ProfileIETF follows draft-ietf-httpapi-idempotency-key-header-07.
	ProfileIETF Profile = "ietf"
	// ProfileStripe has the headers and problems of ProfileIETF, and a key that
	// is used for another request is 400.
	ProfileStripe Profile = "stripe"
	// ProfileGateway has headers and error bodies of its own: X-Idempotency-Key,
	// X-Idempotency-Status, {"code": "400", "message": …}.
	ProfileGateway Profile = "gateway"
)

// protocol is what the runtime does differently per profile. How long outcomes
// are kept, whether a twin is waited for and what is compared are policies,
// which emitted code holds.
type protocol struct {
	keyHeader string // of requests and answers
	parseKey  func(text string) (key string, ok bool)
	writeKey  func(key string) string // as keyHeader has it in an answer
	keyTitle  string                  // of the refusal of a key
	keyRule   string                  // what parseKey accepts, for who sent something else
	// told is the header that says what was made of the key.
	told     string
	replayed func(*answer) string // its value
	reused   int                  // status of key-reused
	// acceptsRunning: a twin of a running request gets an empty 200.
	acceptsRunning bool
	refusal        func(problem) (contentType string, body []byte)
}

// protocols are not changed once made.
var protocols = map[Profile]*protocol{ProfileIETF: &ietf, ProfileStripe: stripe(), ProfileGateway: gateway()}

var ietf = protocol{
	keyHeader: keyHeader, parseKey: parseKey, writeKey: quoteKey,
	keyTitle: "Invalid idempotency key",
	keyRule:  "It must be 1 to 255 visible ASCII characters; comma, quote and backslash only in the quoted form.",
	told:     replayedHeader,
	replayed: func(ans *answer) string { return strconv.FormatBool(ans.replayed) },
	reused:   http.StatusUnprocessableEntity,
	refusal:  problemJSON,
}

func stripe() *protocol {
	p := ietf
	p.reused = http.StatusBadRequest
	return &p
}

// The headers of the profiles.
const (
	keyHeader        = "Idempotency-Key"
	replayedHeader   = "Idempotent-Replayed"
	gatewayKeyHeader = "X-Idempotency-Key"
	gatewayStatus    = "X-Idempotency-Status"
)
