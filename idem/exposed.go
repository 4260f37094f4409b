package idem

import (
	"net/http"
	"slices"
)

// The headers of the runtime that all profiles have.
const (
	retryAfterHeader  = "Retry-After"
	shouldRetryHeader = "X-Should-Retry"
)

// ownHeaders are all headers beside Content-Type that the runtime makes itself in
// this profile: what respond sets, what is never stored, and what a script in a
// browser may want to read.
func (p *protocol) ownHeaders() []string {
	return []string{p.keyHeader, p.told, retryAfterHeader, shouldRetryHeader}
}

// ExposedHeaders are the response headers that scripts of other origins need:
// what a CORS layer should list in Access-Control-Expose-Headers (Fetch
// standard). They are those of the profile, and what the operations declare with
// @header; sorted, in canonical form.
func (s *Service) ExposedHeaders() []string {
	names := s.protocol.ownHeaders()
	for _, op := range s.cfg.Operations {
		for _, name := range op.Headers {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// withOwnHeaders adds those of every profile: a record may be older than the
// profile of its service.
func withOwnHeaders(names map[string]bool) map[string]bool {
	for _, p := range protocols {
		for _, name := range p.ownHeaders() {
			names[name] = true
		}
	}
	return names
}
