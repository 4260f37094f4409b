package idem_test

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/idem"
)

// keyring seals with its first key and opens with any, so that records of the
// older keys are still replayed.
type keyring []cipher.AEAD

func (k keyring) NonceSize() int { return k[0].NonceSize() }
func (k keyring) Overhead() int  { return k[0].Overhead() }

func (k keyring) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	return k[0].Seal(dst, nonce, plaintext, additionalData)
}

func (k keyring) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	for _, key := range k {
		if opened, err := key.Open(dst, nonce, ciphertext, additionalData); err == nil {
			return opened, nil
		}
	}
	return nil, errors.New("no key opens it")
}

// newKey makes AES-256-GCM of 32 bytes, which come from a secret store.
func newKey(secret string) cipher.AEAD {
	block, err := aes.NewCipher([]byte(secret))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}

// To rotate keys, put the new one first, and take the old one out when the
// records of its time have expired.
func ExampleOptions_seal() {
	older, newer := newKey("32 bytes: the key of last year.."), newKey("32 bytes: made this morning.....")
	opts := idem.Options{Seal: keyring{newer, older}}

	nonce := make([]byte, 12) // idem makes random ones
	record := older.Seal(nil, nonce, []byte("a record of last year"), nil)
	opened, err := opts.Seal.Open(nil, nonce, record, nil)
	fmt.Println(string(opened), err)
	// Output: a record of last year <nil>
}
