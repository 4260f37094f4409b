package history

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a broken promise.
type Kind string

// The kinds of violations.
const (
	// Double: an identity has more than one effect at a place, or effects of two
	// payloads, or answered two requests as its first.
	Double Kind = "double effect"
	// Lost: a success was acknowledged, and a place has no effect of it, or it is
	// not a replay afterwards.
	Lost Kind = "lost"
	// Differing: two answers of an identity and payload differ, or two payloads
	// both got theirs, or a refusal has an effect.
	Differing Kind = "differing"
	// Stuck: no definite answer came.
	Stuck Kind = "stuck"
	// Crossed: an answer has bytes of another scope, or an effect is in the wrong one.
	Crossed Kind = "cross-scope"
	// Unexpected: an answer that the operation can't have.
	Unexpected Kind = "unexpected answer"
)

// Violation is one broken promise.
type Violation struct {
	Kind   Kind
	On     Identity
	Detail string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s %s %s: %s", v.Kind, v.On.Scope, v.On.Operation, v.On.Key, v.Detail)
}

// Operation is what an operation may answer, and where its effects are.
type Operation struct {
	Success int // status
	Refusal int // status of its declared refusal; 0: it has none
	Places  []string
}

// Statuses that every operation may answer with.
const (
	unknown     = 0
	inFlight    = 409
	keyReused   = 422
	unavailable = 503
)

// Definite reports whether a status ends a client's retries.
func (o Operation) Definite(status int) bool {
	return status == o.Success || status == keyReused || o.Refusal != 0 && status == o.Refusal
}

// World is what a history is judged by.
type World struct {
	Operations map[string]Operation
	Scopes     []string // none is part of another one's name
	Effects    []Effect
}

// Check gives every violation in a history.
func Check(requests []Request, w World) []Violation {
	c := &checker{World: w, effects: map[string]map[string]int{}, identities: map[Identity]*identity{}, owner: map[string]Identity{}}
	for _, q := range requests {
		c.request(q)
	}
	c.seeEffects()
	for _, id := range c.order {
		c.identity(id, c.identities[id])
	}
	return c.found
}

// identity is what is known of one identity.
type identity struct {
	references []string // payloads that were sent, in the order of their answers
	answers    map[string]*Request
	firsts     int // successes that were not called replays
}

type checker struct {
	World
	effects    map[string]map[string]int // by reference and place
	identities map[Identity]*identity
	order      []Identity
	owner      map[string]Identity // of a reference
	found      []Violation
}

func (c *checker) report(kind Kind, on Identity, format string, args ...any) {
	c.found = append(c.found, Violation{kind, on, fmt.Sprintf(format, args...)})
}

// request looks at what one answer says by itself, and keeps those that are
// definite.
func (c *checker) request(q Request) {
	id := c.identities[q.Identity]
	if id == nil {
		id = &identity{answers: map[string]*Request{}}
		c.identities[q.Identity] = id
		c.order = append(c.order, q.Identity)
	}
	if !slices.Contains(id.references, q.Reference) {
		id.references = append(id.references, q.Reference)
		c.owner[q.Reference] = q.Identity
	}
	op := c.Operations[q.Operation]
	if !op.Definite(q.Status) && !slices.Contains([]int{unknown, inFlight, unavailable}, q.Status) {
		c.report(Unexpected, q.Identity, "%d: %s", q.Status, q.Body)
	}
	for _, scope := range c.Scopes {
		if scope != q.Scope && (strings.Contains(q.Body, scope) || strings.Contains(q.Headers, scope)) {
			c.report(Crossed, q.Identity, "the answer %d has bytes of %s", q.Status, scope)
		}
	}
	if q.Status != op.Success && (op.Refusal == 0 || q.Status != op.Refusal) {
		return
	}
	if !q.Replayed {
		id.firsts++
	}
	if q.Afterwards && !q.Replayed {
		c.report(Lost, q.Identity, "answered again as new: %s", q.Body)
	}
	c.compare(id, q)
}

// compare holds an acknowledged answer against the ones before.
func (c *checker) compare(id *identity, q Request) {
	before := id.answers[q.Reference]
	if before == nil {
		id.answers[q.Reference] = &q
		return
	}
	if before.Status != q.Status || before.Body != q.Body || before.Headers != q.Headers {
		c.report(Differing, q.Identity, "%d %s %s, then %d %s %s", before.Status, before.Headers, before.Body, q.Status, q.Headers, q.Body)
	}
}

func (c *checker) seeEffects() {
	for _, e := range c.Effects {
		places := c.effects[e.Reference]
		if places == nil {
			places = map[string]int{}
			c.effects[e.Reference] = places
		}
		places[e.Place] += e.Count
		on, known := c.owner[e.Reference]
		switch {
		case !known:
			c.report(Double, Identity{Scope: e.Scope}, "%s has %s, which nobody sent", e.Place, e.Reference)
		case e.Scope != "" && e.Scope != on.Scope:
			c.report(Crossed, on, "%s has %s in %s", e.Place, e.Reference, e.Scope)
		}
	}
}

// identity looks at all answers and effects of one identity.
func (c *checker) identity(on Identity, id *identity) {
	op := c.Operations[on.Operation]
	if id.firsts > 1 {
		c.report(Double, on, "%d answers were not called replays", id.firsts)
	}
	switch {
	case len(id.answers) == 0:
		c.report(Stuck, on, "no definite answer to any of %d payloads", len(id.references))
	case len(id.answers) > 1:
		c.report(Differing, on, "%d payloads have got their own answer", len(id.answers))
	}
	for _, place := range op.Places {
		total := 0
		for _, reference := range id.references {
			n := c.effects[reference][place]
			total += n
			c.effect(on, op, place, n, id.answers[reference])
		}
		if total > 1 {
			c.report(Double, on, "%s has %d", place, total)
		}
	}
}

// effect holds what a place has of a payload against what was acknowledged.
func (c *checker) effect(on Identity, op Operation, place string, n int, answer *Request) {
	switch {
	case answer != nil && answer.Status == op.Success && n == 0:
		c.report(Lost, on, "%s has nothing of %s, which was acknowledged", place, answer.Reference)
	case answer != nil && answer.Status != op.Success && n > 0:
		c.report(Differing, on, "%s has %s, which was refused with %d", place, answer.Reference, answer.Status)
	}
}
