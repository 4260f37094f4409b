package review

import (
	"fmt"
	"slices"
	"strings"
)

const workTable = "idem.work"

// durable are the locks of an operation with calls, or of one that is done later:
// each transaction's, in their order. None is held while a call runs.
func (l *lockList) durable() []Lock {
	if l.op.Async {
		l.record("the claim: a copy of this request finds it, and is answered the same")
	} else {
		l.advisory(l.op.Policy.Wait == 0)
	}
	for i, s := range l.op.Steps {
		if s.IsCall() {
			if i == firstCall(l) && !l.op.Async {
				l.record("the claim, committed before the first call: a copy of this request asks for its end, and holds nothing")
			}
			l.lease()
			continue
		}
		l.step(s)
		l.flush()
	}
	l.lease()
	return l.out
}

func firstCall(l *lockList) int {
	for i, s := range l.op.Steps {
		if s.IsCall() {
			return i
		}
	}
	return -1
}

// lease is the fence of all that is written behind the first commit.
func (l *lockList) lease() {
	lock := Lock{Kind: lockRows, Object: workTable, Mode: "FOR UPDATE", Rows: "one", Why: "the lease: who has lost it writes nothing"}
	if !slices.Contains(l.out, lock) {
		l.out = append(l.out, lock)
	}
}

// durable draws an operation that commits in between.
func (d *drawing) durable() {
	if d.op.Async {
		d.add(send, service, database, "one statement: look-up, claim, inputs")
		d.add(reply, database, service, "the event")
		d.add(reply, service, client, "202 with the event, to a copy of it too")
		d.add(note, service, 0, "later, by a worker of any process")
		d.add(send, service, database, "takes the lease")
	} else {
		d.add(send, service, database, "BEGIN, limits, advisory lock, look-up")
		d.add(alt, 0, 0, "first request")
	}
	for _, s := range d.op.Steps {
		if s.Call != nil {
			d.call(s)
			continue
		}
		d.step(s)
	}
	d.add(send, service, database, "record, COMMIT")
	d.add(reply, database, service, "committed")
	if d.op.Async {
		d.add(note, service, 0, "the status tells: "+d.statuses())
		return
	}
	d.add(reply, service, client, d.statuses())
	d.replay()
	d.add(orElse, 0, 0, "a copy of it was left between two transactions")
	d.add(note, service, 0, "goes on behind the last committed call")
	d.running()
	d.collision()
	d.add(end, 0, 0, "")
}

func (d *drawing) call(s Step) {
	d.add(send, service, database, "what is done so far, with a lease of "+s.Call.Lease+", COMMIT")
	d.add(send, service, function, "call "+s.Name+": "+s.Function+", with a key that stays the same")
	text := "result, or a refusal"
	if s.Call.Unknown == "hold" {
		text += "; unknown: held for an operator"
	} else {
		text += "; unknown: called again"
	}
	if s.Call.Undo != "" {
		text += "; " + s.Call.Undo + " takes it back"
	}
	d.add(reply, function, service, text)
}

// eventsOf are the events that a step writes.
func (d *drawing) eventsOf(s Step) string {
	var topics []string
	for _, e := range d.op.Events {
		if e.Step == s.Name {
			topics = append(topics, e.Topic)
		}
	}
	switch len(topics) {
	case 0:
		return ""
	case 1:
		return ", event " + topics[0]
	}
	return fmt.Sprintf(", events %s", strings.Join(topics, ", "))
}
