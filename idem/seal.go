package idem

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strconv"
)

// A sealed record has the pseudo-header ":sealed" with the version of its form
// among its headers, a name that no real header can have. In version 1 the body
// is the base64 (RFC 4648 section 5, unpadded) of nonce and ciphertext, and the
// additional data are that version, scope, stored operation, digest and status,
// each with its length ahead: a body that is moved to another row does not open.
const (
	sealedHeader = ":sealed"
	sealedV1     = "1"
)

var sealedText = base64.RawURLEncoding

// checkSeal refuses an operation whose answers could not be sealed.
func (s *Service) checkSeal(op *Operation) error {
	switch {
	case !op.Policy.Sealed:
		return nil
	case s.aead == nil:
		return fmt.Errorf("idem: operation %s has record=sealed, but Options.Seal is nil: there is no key to seal its answers with", op.Name)
	case op.Strategy != Stepped:
		return fmt.Errorf("idem: operation %s has record=sealed and is %s: only a stepped one can be sealed", op.Name, op.Strategy)
	}
	return nil
}

// seal gives body and headers as the record of inv keeps them. Where the AEAD
// fails nothing is stored in clear: a tombstone is kept, and the first caller
// gets the answer.
func (s *Service) seal(inv *invocation, status int, body []byte, headers map[string]string) ([]byte, map[string]string) {
	text, err := s.sealBody(inv, status, body)
	if err != nil {
		s.logger.Error("the response can't be sealed, and is not stored", "operation", inv.op.stored, "request", inv.occurrence(), "error", err)
		return nil, headers
	}
	marked := map[string]string{sealedHeader: sealedV1}
	maps.Copy(marked, headers)
	return text, marked
}

// sealBody encrypts the body of an answer for the record of inv.
func (s *Service) sealBody(inv *invocation, status int, body []byte) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = nil, panicError(p)
		}
	}()
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(body)+s.aead.Overhead())
	_, _ = rand.Read(nonce) // it never fails
	sealed := s.aead.Seal(nonce, nonce, body, inv.sealedBy(status))
	return sealedText.AppendEncode(nil, sealed), nil
}

// openBody decrypts what sealBody made.
func (s *Service) openBody(inv *invocation, version string, status int, text []byte) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			body, err = nil, panicError(p)
		}
	}()
	switch {
	case s.aead == nil:
		return nil, errors.New("idem: the record is sealed, but Options.Seal is nil")
	case version != sealedV1:
		return nil, fmt.Errorf("idem: the record is sealed in version %q, which this program does not know", version)
	}
	sealed, err := sealedText.AppendDecode(nil, text)
	if err != nil {
		return nil, fmt.Errorf("idem: the sealed record: %w", err)
	}
	size := s.aead.NonceSize()
	if len(sealed) < size {
		return nil, errors.New("idem: the sealed record is too short")
	}
	body, err = s.aead.Open(nil, sealed[:size], sealed[size:], inv.sealedBy(status))
	if err != nil {
		return nil, fmt.Errorf("idem: the sealed record does not open: %w", err)
	}
	return body, nil
}

// sealedBy are the additional data: what the body belongs to.
func (inv *invocation) sealedBy(status int) []byte {
	var data []byte
	for _, part := range []string{sealedV1, inv.scope, inv.op.stored, string(inv.digest), strconv.Itoa(status)} {
		data = appendSized(data, part)
	}
	return data
}

// unseal makes a sealed record readable. One that does not open is like one
// whose body was not kept: it ran, so it does not run again.
func (s *Service) unseal(inv *invocation, ans *answer) {
	version, sealed := ans.headers[sealedHeader]
	if !sealed {
		return
	}
	delete(ans.headers, sealedHeader)
	if ans.gone {
		return
	}
	body, err := s.openBody(inv, version, ans.status, ans.body)
	if err != nil {
		s.logger.Error("the stored response can't be opened", "operation", inv.op.stored, "request", inv.occurrence(), "error", err)
		ans.gone, body = true, nil
	}
	ans.body = body
}
