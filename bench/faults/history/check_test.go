package history

import (
	"slices"
	"testing"
	"time"
)

var world = World{
	Operations: map[string]Operation{"pay": {Success: 201, Refusal: 402, Places: []string{"rows", "calls"}}},
	Scopes:     []string{"scope-a", "scope-b"},
}

func identityOf(scope string) Identity { return Identity{scope, "pay", "k"} }

// healthy is a history in which all goes well: a first answer that got lost, a
// replay, a mismatch, the same key in another scope, a refusal.
func healthy() ([]Request, []Effect) {
	a, b, r := identityOf("scope-a"), identityOf("scope-b"), Identity{"scope-a", "pay", "refused"}
	return []Request{
			{Identity: a, Reference: "a1"},
			{Identity: a, Reference: "a1", Status: 503},
			{Identity: a, Reference: "a1", Status: 201, Body: "id 1 of scope-a", Headers: "application/json"},
			{Identity: a, Reference: "a2", Status: 409},
			{Identity: a, Reference: "a2", Status: 422},
			{Identity: b, Reference: "b1", Status: 201, Body: "id 2 of scope-b"},
			{Identity: r, Reference: "r1", Status: 402, Body: "no"},
			{Identity: a, Reference: "a1", Status: 201, Body: "id 1 of scope-a", Headers: "application/json", Replayed: true, Afterwards: true},
		}, []Effect{
			{"rows", "scope-a", "a1", 1}, {"calls", "", "a1", 1},
			{"rows", "scope-b", "b1", 1}, {"calls", "", "b1", 1},
		}
}

func check(requests []Request, effects []Effect) (kinds []Kind) {
	w := world
	w.Effects = effects
	for _, v := range Check(requests, w) {
		kinds = append(kinds, v.Kind)
	}
	return kinds
}

func TestAHealthyHistoryHasNoViolation(t *testing.T) {
	if kinds := check(healthy()); kinds != nil {
		t.Errorf("%v", kinds)
	}
}

// Each seeded fault is found as what it is, and as nothing else.
func TestSeededViolationsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		seed func(requests *[]Request, effects *[]Effect)
		want []Kind
	}{
		"two rows":                       {func(_ *[]Request, e *[]Effect) { (*e)[0].Count = 2 }, []Kind{Double}},
		"two calls under different keys": {func(_ *[]Request, e *[]Effect) { (*e)[1].Count = 2 }, []Kind{Double}},
		"both payloads of a key have effects": {func(_ *[]Request, e *[]Effect) {
			*e = append(*e, Effect{"rows", "scope-a", "a2", 1})
		}, []Kind{Double}},
		"two first answers": {func(q *[]Request, _ *[]Effect) {
			*q = append(*q, (*q)[2])
		}, []Kind{Double}},
		"an effect that nobody asked for": {func(_ *[]Request, e *[]Effect) {
			*e = append(*e, Effect{"rows", "scope-a", "z", 1})
		}, []Kind{Double}},
		"an acknowledged row is gone":           {func(_ *[]Request, e *[]Effect) { *e = (*e)[1:] }, []Kind{Lost}},
		"half of what was acknowledged is gone": {func(_ *[]Request, e *[]Effect) { *e = (*e)[:3] }, []Kind{Lost}},
		"the record is gone, and the request ran again": {func(q *[]Request, e *[]Effect) {
			again := &(*q)[len(*q)-1]
			again.Body, again.Replayed = "id 9 of scope-a", false
			(*e)[0].Count = 2
		}, []Kind{Lost, Differing, Double, Double}},
		"a replay of other bytes":     {func(q *[]Request, _ *[]Effect) { (*q)[len(*q)-1].Body += " " }, []Kind{Differing}},
		"a replay of another status":  {func(q *[]Request, e *[]Effect) { (*q)[len(*q)-1].Status = 402 }, []Kind{Differing}},
		"a replay with other headers": {func(q *[]Request, _ *[]Effect) { (*q)[len(*q)-1].Headers = "text/plain" }, []Kind{Differing}},
		"a refusal with an effect": {func(_ *[]Request, e *[]Effect) {
			*e = append(*e, Effect{"rows", "scope-a", "r1", 1})
		}, []Kind{Differing}},
		"another payload is answered with the record": {func(q *[]Request, _ *[]Effect) {
			(*q)[4] = Request{Identity: (*q)[4].Identity, Reference: "a2", Status: 201, Body: (*q)[2].Body, Replayed: true}
		}, []Kind{Differing, Lost, Lost}},
		"only in flight, for ever": {func(q *[]Request, _ *[]Effect) {
			*q = append(*q, Request{Identity: Identity{"scope-a", "pay", "k9"}, Reference: "s1", Status: 409})
		}, []Kind{Stuck}},
		"reused, and nobody used it": {func(q *[]Request, _ *[]Effect) {
			*q = append(*q, Request{Identity: Identity{"scope-a", "pay", "k9"}, Reference: "s1", Status: 422})
		}, []Kind{Stuck}},
		"the answer of another scope": {func(q *[]Request, _ *[]Effect) {
			(*q)[5].Body = (*q)[2].Body
		}, []Kind{Crossed}},
		"a header of another scope": {func(q *[]Request, _ *[]Effect) {
			(*q)[5].Headers = "/of/scope-a"
		}, []Kind{Crossed}},
		"a row in another scope": {func(_ *[]Request, e *[]Effect) { (*e)[0].Scope = "scope-b" }, []Kind{Crossed}},
		"a server error":         {func(q *[]Request, _ *[]Effect) { (*q)[1].Status = 500 }, []Kind{Unexpected}},
	} {
		t.Run(name, func(t *testing.T) {
			requests, effects := healthy()
			c.seed(&requests, &effects)
			if kinds := check(requests, effects); !slices.Equal(kinds, c.want) {
				t.Errorf("found %v, want %v", kinds, c.want)
			}
		})
	}
}

// More waits for requests that return after it was asked.
func TestMoreCountsWhatReturnsFromNowOn(t *testing.T) {
	r := NewRecorder()
	r.Add(Request{Invoke: r.Now()})
	two := r.More(2)
	r.Add(Request{})
	select {
	case <-two:
		t.Fatal("one more is not two")
	default:
	}
	r.Add(Request{})
	select {
	case <-two:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	refused := r.MoreThat(1, func(q Request) bool { return q.Status == 503 })
	r.Add(Request{Status: 201})
	select {
	case <-refused:
		t.Fatal("another one was counted")
	default:
	}
	r.Add(Request{Status: 503})
	<-refused
	<-r.More(0)
	if n := len(r.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}
