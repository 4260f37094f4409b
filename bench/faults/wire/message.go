// Package wire is a proxy between a service and PostgreSQL that reads the
// protocol (version 3; PostgreSQL docs, "Message Formats") along, so that a
// connection can be cut, held up or silenced at any message of it. It reads
// unencrypted connections only.
package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// Direction is where a message goes.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// Message is one message of a connection whose login is over.
type Message struct {
	To   Direction
	Type byte // as in the protocol: 'Q' Query, 'S' Sync, 'Z' ReadyForQuery, …
	// Commits is true for the message whose arrival makes the server commit
	// writes (Execute or Query of a COMMIT, else Sync or Query outside of a
	// transaction), and for the ReadyForQuery that says it is done.
	Commits bool

	payload []byte
}

// maxMessage is more than any message of the services that are tested.
const maxMessage = 64 << 20

var errTooLong = errors.New("wire: a message is too long to be one")

// readMessage reads a message that begins with its type.
func readMessage(r io.Reader) (Message, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Message{}, err
	}
	payload, err := readPayload(r, head[1:])
	return Message{Type: head[0], payload: payload}, err
}

// readPayload reads what follows a length, which counts itself.
func readPayload(r io.Reader, length []byte) ([]byte, error) {
	size := int64(binary.BigEndian.Uint32(length)) - 4
	if size < 0 || size > maxMessage {
		return nil, errTooLong
	}
	payload := make([]byte, size)
	_, err := io.ReadFull(r, payload)
	return payload, err
}

// bytes are the message as it travels.
func (m Message) bytes() []byte {
	out := make([]byte, 5, 5+len(m.payload))
	out[0] = m.Type
	binary.BigEndian.PutUint32(out[1:], uint32(4+len(m.payload))) // at most maxMessage
	return append(out, m.payload...)
}
