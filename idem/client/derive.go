package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// minSecret is the length from which on a secret can't be guessed by trying:
// 128 bits.
const minSecret = 16

// DeriveKey makes the key of an agent's step from what the step is about to do, so
// that an agent that restarts sends the key it sent before. Whoever does not know
// the secret can neither foresee nor forge it. The key is 64 hexadecimal digits:
//
//	HMAC-SHA256(secret, part(session) part(step) part(tool) part(SHA-256(Canonical(payload))))
//
// where part(x) is the length of x in bytes as 8 bytes, big-endian, and then x.
// testdata/vectors.json has examples for implementations in other languages.
//
// The payload is a part of the key: an agent that rewords it after a restart gets
// another key, and the tool runs twice. Use [DeriveStepKey] for such agents.
//
// It fails where the secret has less than 16 bytes, where session, step or tool is
// empty, and where [Canonical] fails.
func DeriveKey(secret []byte, session, step, tool string, payload any) (string, error) {
	canonical, err := Canonical(payload)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return derive(secret, session, step, tool, sum[:])
}

// DeriveStepKey is [DeriveKey] without the payload: the key names the step alone,
// however the agent words it. The receiver compares the payload by its
// fingerprint, and answers 422 where it differs. Recommended for agents that word
// their payloads anew at each run.
func DeriveStepKey(secret []byte, session, step, tool string) (string, error) {
	return derive(secret, session, step, tool)
}

func derive(secret []byte, session, step, tool string, payload ...[]byte) (string, error) {
	if len(secret) < minSecret {
		return "", fmt.Errorf("client: the secret has %d bytes; give at least %d random ones", len(secret), minSecret)
	}
	if session == "" || step == "" || tool == "" {
		return "", errors.New("client: session, step and tool must not be empty, or different steps would share a key")
	}
	mac := hmac.New(sha256.New, secret)
	for _, part := range append([][]byte{[]byte(session), []byte(step), []byte(tool)}, payload...) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil)), nil
}
