package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// event is one line of a sequence diagram.
type event struct {
	kind     eventKind
	from, to actor
	text     string
}

type eventKind int

const (
	send   eventKind = iota // a message
	reply                   // its answer, drawn dashed
	note                    // over one actor, from
	alt                     // opens alternatives; text is the first one's condition
	orElse                  // the next alternative
	end                     // closes the alternatives
)

// actor takes part in a diagram; the order is that of the columns.
type actor int

const (
	client actor = iota
	service
	function
	database
)

var actorNames = []string{"Client", "Service", "Go functions", "PostgreSQL"}

// actors are those of a diagram, from left to right.
func (op *Operation) actors() []actor {
	if len(op.functions())+len(op.calls()) > 0 {
		return []actor{client, service, function, database}
	}
	return []actor{client, service, database}
}

// diagram draws what a request meets: the first one, a replay, a copy of one
// that runs, and the collision with an intent.
func diagram(op *Operation) []event {
	d := &drawing{op: op}
	request := op.Method + " " + op.Path
	switch {
	case op.Key.From == "header" && op.Method == model.MethodTool:
		request += ", key with the call"
	case op.Key.From == "header":
		request += ", key in a header"
	}
	d.add(send, client, service, request)
	switch op.Strategy {
	case string(plan.Stepped):
		if op.Async || len(op.calls()) > 0 {
			d.durable()
			return d.events
		}
		d.stepped()
	case string(plan.Direct):
		d.direct()
	default:
		d.single()
	}
	return d.events
}

type drawing struct {
	op     *Operation
	events []event
}

func (d *drawing) add(kind eventKind, from, to actor, text string) {
	d.events = append(d.events, event{kind, from, to, oneLine(text)})
}

func (d *drawing) direct() {
	d.add(send, service, database, d.does())
	d.add(reply, database, service, "rows")
	d.add(reply, service, client, d.statuses())
}

func (d *drawing) does() string {
	parts := make([]string, len(d.op.Steps))
	for i, s := range d.op.Steps {
		parts[i] = s.Does + d.eventsOf(s)
	}
	return strings.Join(parts, ", ")
}

// statuses are what a request that ran is answered with.
func (d *drawing) statuses() string {
	text := strconv.Itoa(d.op.Status)
	seen := map[int]bool{d.op.Status: true}
	for _, a := range d.op.Answers {
		if a.Kept != "" && !seen[a.Status] {
			seen[a.Status] = true
			text += ", or " + strconv.Itoa(a.Status)
		}
	}
	return text
}

// single is an operation of one round trip with a key.
func (d *drawing) single() {
	text := "one statement: look-up, " + d.does() + ", record"
	if d.op.Strategy == string(plan.Verbatim) {
		text = "one pipeline: look-up, claim, " + d.does() + ", record"
	}
	d.add(send, service, database, text)
	d.add(alt, 0, 0, "first request")
	d.add(note, database, 0, "one transaction, committed by its end")
	d.add(reply, database, service, "the answer")
	d.add(reply, service, client, d.statuses())
	d.replay()
	d.running()
	d.collision()
	d.unkeyed()
	d.add(end, 0, 0, "")
}

func (d *drawing) stepped() {
	keyed := d.op.Key.From != "none"
	opening := "BEGIN, limits"
	if keyed {
		opening += ", advisory lock, look-up"
	}
	d.add(send, service, database, opening)
	if keyed {
		d.add(alt, 0, 0, "first request")
	}
	for _, s := range d.op.Steps {
		d.step(s)
	}
	closing := "COMMIT"
	if keyed {
		closing = "record, COMMIT"
	}
	d.add(send, service, database, closing)
	d.add(reply, database, service, "committed")
	d.add(reply, service, client, d.statuses())
	if keyed {
		d.replay()
		d.running()
		d.collision()
		d.unkeyed()
		d.add(end, 0, 0, "")
	}
}

func (d *drawing) step(s Step) {
	text := "step " + s.Name + ": " + s.Does + d.eventsOf(s)
	if s.Each != "" {
		text += ", once per element of " + s.Each
	}
	if s.Function == "" {
		d.add(send, service, database, text)
		return
	}
	d.add(send, service, function, "step "+s.Name+": "+s.Function)
	d.add(send, function, database, "its own SQL, in the transaction")
	d.add(reply, function, service, "result, or a refusal that undoes all")
}

func (d *drawing) replay() {
	d.add(orElse, 0, 0, "a record is there")
	d.add(reply, database, service, "the record")
	text := "the same answer again"
	if d.op.Fingerprint.Mode != "none" {
		text += fmt.Sprintf(", or %d for other inputs", d.op.status("key-reused"))
	}
	d.add(reply, service, client, text)
}

func (d *drawing) running() {
	d.add(orElse, 0, 0, "a copy of it runs")
	text := "refused at once"
	if wait := d.op.Policy.Wait; wait != "0s" {
		text = "waits up to " + wait + " for its end"
		d.add(note, database, 0, text)
		text = fmt.Sprintf("its answer, or %d", d.op.status("in-flight", "processing"))
	} else {
		text = fmt.Sprintf("%d, %s", d.op.status("in-flight", "processing"), text)
	}
	d.add(reply, service, client, text)
}

func (d *drawing) collision() {
	for _, in := range d.op.Intents {
		d.add(orElse, 0, 0, "another key made the row of this intent")
		d.add(reply, database, service, in.Index+" is violated, all is undone")
		text := "409 with the row that is there"
		if in.On == "return" {
			text = "the row that is there, or 409 where it differs"
		}
		d.add(reply, service, client, text)
	}
}

// unkeyed is a request without the key that it could have.
func (d *drawing) unkeyed() {
	if d.op.Key.From == "header" && !d.op.Key.Required {
		d.add(orElse, 0, 0, "no key in the request")
		d.add(note, service, 0, "runs unprotected: nothing is claimed, recorded or replayed")
	}
}

// status is that of the first answer with one of the codes.
func (op *Operation) status(codes ...string) int {
	for _, a := range op.Answers {
		for _, c := range codes {
			if a.Code == c {
				return a.Status
			}
		}
	}
	return 0
}
