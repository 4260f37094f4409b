package idem

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// newUUID4 is a random UUID (RFC 9562, version 4).
func newUUID4() string { return uuidText(randomUUID(), 4) }

// newInstance is the URI of an occurrence of a problem.
func newInstance() string { return "urn:uuid:" + newUUID4() }

// newUUID7 is a UUID that sorts by time (RFC 9562, version 7).
func newUUID7(at time.Time) string {
	id := randomUUID()
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(at.UnixMilli()))
	copy(id[:6], stamp[2:])
	return uuidText(id, 7)
}

func randomUUID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

func uuidText(id [16]byte, version byte) string {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	text := make([]byte, 36)
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text)
}
