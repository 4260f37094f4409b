package client

import (
	"crypto/rand"
	"encoding/hex"
)

// NewKey makes a key that nobody else makes: a random UUID (version 4, RFC 9562).
// Make it once per intent, keep it for as long as you may try again, and send it
// with every try.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program first
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[:8], b[:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	for _, i := range []int{8, 13, 18, 23} {
		text[i] = '-'
	}
	return string(text[:])
}
