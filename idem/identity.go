package idem

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// writePart writes a part with its length ahead, so that no two lists of parts
// give the same bytes.
func writePart(h hash.Hash, part string) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(part)))
	h.Write(length[:])
	h.Write([]byte(part))
}

func hashParts(parts ...string) []byte {
	h := sha256.New()
	for _, part := range parts {
		writePart(h, part)
	}
	return h.Sum(nil)
}

// digestOf is what a key row is found by within its scope.
func digestOf(operation, key string) []byte { return hashParts(operation, key)[:16] }

// lockOf is the number of the advisory lock of an identity.
func lockOf(scope, operation, key string) int64 {
	return int64(binary.BigEndian.Uint64(hashParts(scope, operation, key)))
}

// byteaText is a bytea in PostgreSQL's hex form.
func byteaText(b []byte) []byte {
	text := make([]byte, 2+hex.EncodedLen(len(b)))
	copy(text, `\x`)
	hex.Encode(text[2:], b)
	return text
}
