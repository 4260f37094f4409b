package idem

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// hashParts hashes each part with its length ahead, so that no two lists of
// parts give the same bytes.
func hashParts(parts ...string) []byte {
	size := 0
	for _, part := range parts {
		size += 8 + len(part)
	}
	text := make([]byte, 0, size)
	for _, part := range parts {
		text = appendSized(text, part)
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// digestOf is what a key row is found by within its scope.
func digestOf(operation, key string) []byte { return hashParts(operation, key)[:16] }

// lockOf is the number of the advisory lock of an identity.
func lockOf(scope, operation, key string) int64 {
	return int64(binary.BigEndian.Uint64(hashParts(scope, operation, key)))
}

// byteaText is a bytea in PostgreSQL's hex form.
func byteaText(b []byte) []byte {
	return appendBytea(make([]byte, 0, 2+hex.EncodedLen(len(b))), b)
}

func appendBytea(dst, b []byte) []byte {
	return hex.AppendEncode(append(dst, `\x`...), b)
}
