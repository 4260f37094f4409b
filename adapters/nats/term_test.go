package idemnats_test

import (
	"testing"
	"time"
)

// A dead letter's message is ended in words that every server knows: those before
// 2.10.4 ignore +TERM with a reason, and deliver the message for ever, buried anew each time.
func TestDeadMessagesAreEndedInWordsThatOldServersKnow(t *testing.T) {
	js, _ := newStream(t)
	acks, err := js.Conn().SubscribeSync("$JS.ACK.orders.>")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, js, "m-1", "no number")
	c := newConsumer(t, js, newShelf(t), time.Minute)
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	ack, err := acks.NextMsg(10 * time.Second)
	if err != nil || string(ack.Data) != "+TERM" {
		t.Errorf("%+v %v", ack, err)
	}
}
