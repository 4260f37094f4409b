package idem

import "net/http"

// Message is one message of a broker, as an adapter reads it. Package idem/consume has
// what adapters share.
type Message struct {
	// ID names the message: the same in every redelivery, and never used for another
	// one of its topic. It is the key. Without one the message is [Dead], unless the
	// operation has a key of its own (@key).
	ID string
	// Topic is what operations name in @consume.
	Topic string
	// Type chooses among the operations of a topic; "" is a type like any other.
	Type string
	// Scope is whose message it is, the consumer group where nobody knows better; see
	// Options.MessageScope.
	Scope string
	// Body is the JSON document that the operation's inputs are read from.
	Body []byte
	// Attempt counts deliveries, from 1; 0 where the broker does not count.
	Attempt int
	// Headers are the broker's, in any spelling: header.NAME is one of them.
	Headers http.Header
}

// Disposition says what a broker is to be told of a message.
type Disposition uint8

// The dispositions. The zero value loses nothing.
const (
	// Retry: not done and nothing recorded. The message must not be acknowledged, and
	// is to be delivered again.
	Retry Disposition = iota
	// Ack: its effects are committed, now or before, or nobody wants it.
	Ack
	// Dead: no redelivery will do better. It belongs to the dead letters, with the
	// error as the reason, and must not be lost.
	Dead
)

// String gives the disposition's word.
func (d Disposition) String() string {
	switch d {
	case Ack:
		return "ack"
	case Dead:
		return "dead"
	}
	return "retry"
}
