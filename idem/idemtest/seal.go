package idemtest

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"
)

// Seal is a cipher for records of tests. Its key is known to everybody.
func Seal(t testing.TB) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher([]byte("idemtest: not a secret key, ever"))
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	sealed, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	return sealed
}
