package idem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Consumer says which messages an operation takes. The zero value: none.
type Consumer struct {
	Topic string
	Types []string // none: all that no other operation of the topic takes
}

// topic is what operations take of one topic.
type topic struct {
	byType map[string]*operation
	rest   *operation // what takes all other types, nil: they are ignored
	gate   *operation // stands for messages that no operation takes
}

// compileTopics gathers the consumers by topic.
func (s *Service) compileTopics() error {
	s.topics = map[string]*topic{}
	var errs []error
	for _, described := range s.cfg.Operations {
		op := s.operations[described.Name]
		name := op.Consumer.Topic
		if name == "" {
			continue
		}
		if s.topics[name] == nil {
			gate := &Operation{Name: Name("consume-" + name), Method: op.Method, Path: op.Path}
			s.topics[name] = &topic{byType: map[string]*operation{}, gate: &operation{Operation: gate, stored: s.cfg.Service + "." + string(gate.Name)}}
		}
		errs = append(errs, s.topics[name].add(op))
	}
	return errors.Join(errs...)
}

func (t *topic) add(op *operation) error {
	taken := func(kind string, by *operation) error {
		return fmt.Errorf("idem: operations %s and %s both take %s of %s", by.Name, op.Name, kind, op.Consumer.Topic)
	}
	if op.Key.From == KeyNone || op.Key.From == KeyHeader {
		return fmt.Errorf("idem: operation %s takes messages, and needs a key of the message", op.Name)
	}
	if len(op.Consumer.Types) == 0 {
		if t.rest != nil {
			return taken("all messages", t.rest)
		}
		t.rest = op
	}
	for _, kind := range op.Consumer.Types {
		if other := t.byType[kind]; other != nil {
			return taken("type "+kind, other)
		}
		t.byType[kind] = op
	}
	return nil
}

// Topics are those that operations take messages of, sorted.
func (s *Service) Topics() []string { return slices.Sorted(maps.Keys(s.topics)) }

// Consume handles a message: it claims by the message's id, or the operation's own key,
// in the transaction of what the message causes. The error is the reason of [Retry] and
// [Dead], and safe to be kept beside the message: it holds no values of it. It is nil for
// [Ack], also where the message was a duplicate.
//
// A ctx that is cancelled does not end the work: what was begun ends within the
// operation's timeout, so that a consumer can stop without leaving it behind.
func (s *Service) Consume(ctx context.Context, m Message) (Disposition, error) {
	t := s.topics[m.Topic]
	if t == nil {
		return Dead, fmt.Errorf("idem: no operation takes messages of topic %q", m.Topic)
	}
	op := t.byType[m.Type]
	if op == nil {
		op = t.rest
	}
	if op == nil {
		s.watch(ctx, t.gate).end(nil, &answer{status: http.StatusNoContent, event: EventIgnored})
		return Ack, nil
	}
	return s.consumeBy(ctx, op, m)
}

// consumeBy is Consume by an operation. A panic of MessageScope is a fault; those of the
// operation are caught where it runs.
func (s *Service) consumeBy(ctx context.Context, op *operation, m Message) (d Disposition, err error) {
	seen := s.watch(ctx, op)
	ctx = seen.context(ctx)
	defer func() {
		if p := recover(); p != nil {
			d, err = s.turnBack(ctx, op, seen, errInternal(panicError(p)))
		}
	}()
	inv, refused := s.admitMessage(ctx, op, m)
	if refused != nil {
		return s.turnBack(ctx, op, seen, refused)
	}
	inv.seen, inv.stays = seen, true
	ans, err := s.serve(ctx, inv)
	if err != nil {
		return Retry, err
	}
	return ans.disposition()
}

// turnBack is the disposition of a message that was refused before the claim.
func (s *Service) turnBack(ctx context.Context, op *operation, seen *watch, e *Error) (Disposition, error) {
	s.logRefused(ctx, op, newInstance(), e)
	ans := s.answerOf(e, newInstance(), "")
	seen.end(nil, ans)
	return ans.disposition()
}

// admitMessage makes an invocation of a message.
func (s *Service) admitMessage(ctx context.Context, op *operation, m Message) (*invocation, *Error) {
	scope, refused := s.scopeOfMessage(m)
	if refused != nil {
		return nil, refused
	}
	if limit := op.Policy.MaxBody; limit > 0 && int64(len(m.Body)) > limit {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "body-too-large", Title: "Message body too large",
			Detail: fmt.Sprintf("The limit is %d bytes.", limit)}
	}
	inv, caller, refused := s.admit(op, scope)
	if refused != nil {
		return nil, refused
	}
	header := http.Header{}
	for name, values := range m.Headers {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	inv.values, refused = op.decoder.decode(request{path: noPath, header: header, body: m.Body, caller: op.callerOf(caller)})
	if refused != nil {
		return nil, refused
	}
	if refused := inv.chooseKey(m.ID, s.protocol); refused != nil {
		return nil, refused
	}
	if !inv.keyed() {
		return nil, errMessageID()
	}
	inv.print = op.decoder.fingerprint(inv.values)
	if op.emits || op.runsGo() {
		inv.trace = traceOf(ctx, header).json()
	}
	return inv, nil
}

func noPath(string) string { return "" }

// scopeOfMessage is whose message it is.
func (s *Service) scopeOfMessage(m Message) (string, *Error) {
	scope := ""
	if s.messageOf != nil {
		given, err := s.messageOf(m)
		if own, _ := ownError(err); own != nil {
			return "", own
		}
		if err != nil {
			return "", unauthenticated(fmt.Errorf("idem: Options.MessageScope: %w", err))
		}
		scope = given
	}
	for _, other := range []string{m.Scope, s.cfg.Service} {
		if scope == "" {
			scope = other
		}
	}
	return scope, nil
}

func errMessageID() *Error {
	return &Error{Status: http.StatusBadRequest, Code: "message-id-missing", Title: "The message has no id",
		Detail: "Without one it could not be told from a repetition."}
}

// disposition is what an answer means to a broker. A refusal that is recorded, or that
// this message would meet every time, is for the dead letters.
func (a *answer) disposition() (Disposition, error) {
	if a.wasDone || !a.isProblem() {
		return Ack, nil
	}
	e := a.asError()
	switch {
	case a.retryAfter > 0, a.event == EventProcessing, a.status >= 500:
		return Retry, e
	case a.replayed, a.stored, a.err == nil: // recorded
		return Dead, e
	case a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly, a.status == http.StatusTooManyRequests:
		return Retry, e
	case e.mayPass():
		return Retry, e
	}
	return Dead, e
}

// mayPass reports a refusal that nobody declared and that other rows are the reason of.
// Messages overtake each other: what is missing may be there at the next delivery.
func (e *Error) mayPass() bool {
	switch e.Code {
	case "already-exists", "reference-not-found", "still-referenced":
		return true
	}
	return false
}
