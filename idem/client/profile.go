package client

import (
	"net/http"
	"strings"
)

// Profile names the protocol of a service: idemgen's `profile:`.
type Profile string

// The profiles.
const (
	IETF    Profile = "ietf"    // Idempotency-Key, a quoted string (draft-ietf-httpapi-idempotency-key-header-07)
	Stripe  Profile = "stripe"  // Idempotency-Key as it is
	Gateway Profile = "gateway" // X-Idempotency-Key and X-Idempotency-Status
)

// keyHeaders are all headers of keys that protect a request, whatever the profile:
// those that net/http repeats for as well.
var keyHeaders = []string{"Idempotency-Key", "X-Idempotency-Key"}

const (
	replayedHeader = "Idempotent-Replayed"
	statusHeader   = "X-Idempotency-Status"
)

func (p Profile) known() bool { return p == IETF || p == Stripe || p == Gateway }

func (p Profile) header() string {
	if p == Gateway {
		return "X-Idempotency-Key"
	}
	return "Idempotency-Key"
}

// setKey puts a key into h.
func (p Profile) setKey(h http.Header, key string) {
	if p == IETF {
		key = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"` // RFC 8941 section 4.1.6
	}
	h.Set(p.header(), key)
}

// validKey reports whether idemgen's services take a key in any profile's header.
func validKey(key string) bool {
	return len(key) <= 255 && key != "" && strings.IndexFunc(key, func(r rune) bool { return r < '!' || r > '~' }) < 0
}

// keyOf is the key of a request, unquoted, whichever header it is in.
func keyOf(h http.Header) string {
	for _, name := range keyHeaders {
		if value := strings.TrimSpace(h.Get(name)); value != "" {
			return unquote(value)
		}
	}
	return ""
}

func unquote(value string) string {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(value[1 : len(value)-1])
}

// replayed reports whether an answer was recorded earlier.
func replayed(h http.Header) bool {
	return strings.EqualFold(h.Get(replayedHeader), "true") || strings.EqualFold(h.Get(statusHeader), "duplicate")
}

// inFlight reports the gateway's way of saying that the same request is running: a
// success without a body.
func (p Profile) inFlight(r *http.Response) bool {
	return p == Gateway && r.StatusCode == http.StatusOK && r.ContentLength == 0 &&
		strings.EqualFold(r.Header.Get(statusHeader), "processing")
}
