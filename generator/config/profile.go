package config

import (
	"time"

	"github.com/idemgen/idemgen/generator/spec"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// The profiles: header protocols with defaults of their own (docs/semantics.md).
const (
	ProfileIETF    = "ietf"
	ProfileStripe  = "stripe"
	ProfileGateway = "gateway"
)

// Profiles are all of them, the default first.
func Profiles() []string { return []string{ProfileIETF, ProfileStripe, ProfileGateway} }

// ProfilePolicy is the policy of operations for which neither they nor
// `defaults:` say anything: every key of it is set. An unknown profile has that
// of ietf.
func ProfilePolicy(profile string) spec.Policy {
	p := spec.Policy{
		Success:     ptr(24 * time.Hour),
		ClientError: ptr(2 * time.Hour),
		ServerError: ptr(time.Duration(0)),
		Inflight:    &spec.Inflight{Wait: 2 * time.Second},
		Fingerprint: &spec.Fingerprint{Mode: "all"},
		Isolation:   ptr("read committed"),
		Timeout:     ptr(30 * time.Second),
		MaxBody:     ptr(int64(1 << 20)),
		Record:      ptr("full"),
		ForceRetry:  ptr(false),
	}
	switch profile {
	case ProfileStripe:
		p.ClientError, p.ServerError = ptr(24*time.Hour), ptr(24*time.Hour)
		p.Inflight = &spec.Inflight{}
	case ProfileGateway:
		p.ServerError = ptr(5 * time.Minute)
		p.Inflight, p.Fingerprint = &spec.Inflight{}, &spec.Fingerprint{Mode: "none"}
	}
	return p
}

// NeedsKey reports whether `@key header`, where it says neither required nor
// optional, refuses a request without the header.
func NeedsKey(profile string) bool { return profile == ProfileIETF }

// profile reads the header protocol.
func (r *reader) profile(e yamltree.Entry) { r.oneOf(e, &r.cfg.Profile, Profiles()...) }
