package idem

// Profile is the header protocol: which headers carry the key and what was made
// of it, which keys are accepted, and how refusals look.
type Profile string

// The profiles; docs/semantics.md.
const (
	// ProfileIETF follows draft-ietf-httpapi-idempotency-key-header-07.
	ProfileIETF Profile = "ietf"
)
