// Package outbox dispatches the events that operations wrote to idem.outbox, in
// the transaction of what they tell of: at least once, each always with the same
// key, those of one ordering key in order. docs/outbox.md has the whole of it.
//
// A Dispatcher runs inside a service, or alone in a process of its own; any
// number of them may work side by side.
package outbox
