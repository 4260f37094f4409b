package consume

import (
	"context"
	"fmt"
)

// Guard calls a function that an adapter was given, for one message. A panic of it is
// an error that names the function, and not the end of the process: the message would
// come again and end the next one.
func Guard(name string, call func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked", name) // the panic may hold values of the message
		}
	}()
	call()
	return nil
}

// Amend has a function change what was read of a message. Where it panics the message
// stays as it was, and the handler in the place of next fails with that: the message is
// delivered again, and given up at last, like any that can't be handled.
func Amend(m *Message, next Handler, by func(*Message)) Handler {
	changed := *m
	if err := Guard("Read", func() { by(&changed) }); err != nil {
		return HandlerFunc(func(context.Context, Message) (Disposition, error) { return Retry, err })
	}
	*m = changed
	return next
}
