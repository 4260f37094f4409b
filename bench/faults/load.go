package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
	"github.com/idemgen/idemgen/bench/faults/internal/steps"
)

var scopes = []string{"scope-a", "scope-b", "scope-c", "scope-d"}

// operations are those of the service, with what they may answer and do.
var operations = map[string]history.Operation{
	"/fused":   {Success: 201, Refusal: 402, Places: []string{placeEffects}},
	"/stepped": {Success: 201, Places: []string{placeEffects, placeLines, placeEvents}},
	"/decided": {Success: 201, Refusal: 402, Places: []string{placeEffects, placeLines}},
	"/called":  {Success: 201, Places: []string{placeEffects, placeCalls}},
	"/later":   {Success: 202, Places: []string{placeEffects}},
}

var operationNames = []string{"/fused", "/stepped", "/fused", "/decided", "/fused", "/called", "/stepped", "/later"}

// patience is how long a key may stay without a definite answer once the
// faults are over.
const patience = time.Minute

// load is clients that send requests, and repeat them until there is a definite
// answer, as clients should.
type load struct {
	w      *world
	seed   uint64
	client *http.Client
	next   atomic.Int64
	calm   atomic.Bool     // no new keys
	ctx    context.Context // ends with the patience
	expire context.CancelFunc
	wg     sync.WaitGroup
}

func startLoad(ctx context.Context, w *world, workers int, seed uint64) *load {
	l := &load{w: w, seed: seed, client: &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 4 * workers},
	}}
	l.ctx, l.expire = context.WithCancel(ctx)
	for range workers {
		l.wg.Go(func() {
			for !l.calm.Load() && l.ctx.Err() == nil {
				l.use(l.next.Add(1))
			}
		})
	}
	return l
}

// settle lets every key come to its answer, for as long as the patience lasts.
func (l *load) settle() {
	l.calm.Store(true)
	timer := time.AfterFunc(patience, l.expire)
	defer timer.Stop()
	l.wg.Wait()
}

// stop ends the clients at once.
func (l *load) stop() {
	l.expire()
	l.wg.Wait()
	l.client.CloseIdleConnections()
}

// use uses one key in one scope, alone or several at once. The same key is used in
// every scope at about the same time.
func (l *load) use(n int64) {
	random := rand.New(rand.NewPCG(l.seed, uint64(n)))
	round := n / int64(len(scopes))
	id := history.Identity{
		Scope:     scopes[n%int64(len(scopes))],
		Operation: operationNames[round%int64(len(operationNames))],
		Key:       fmt.Sprintf("key-%d", round),
	}
	reference := fmt.Sprintf("ref-%d-", n)
	if random.IntN(20) == 0 && operations[id.Operation].Refusal != 0 {
		reference = steps.Refused + reference
	}
	senders := []string{reference + "1"}
	switch random.IntN(10) {
	case 0, 1, 2: // duplicates
		senders = append(senders, reference+"1")
	case 3: // and a mismatch
		senders = append(senders, reference+"1", reference+"2")
	}
	impatient := random.IntN(10) == 0
	var wg sync.WaitGroup
	for _, reference := range senders {
		wg.Go(func() { l.insist(id, reference, impatient) })
	}
	wg.Wait()
}

// insist repeats a request until its answer is definite. An impatient client goes
// away at its first try before there is an answer.
func (l *load) insist(id history.Identity, reference string, impatient bool) {
	for l.ctx.Err() == nil {
		ctx, cancel := l.ctx, func() {}
		if impatient {
			ctx, cancel = context.WithTimeout(ctx, 3*time.Millisecond)
		}
		status := l.send(ctx, id, reference, false)
		cancel()
		impatient = false
		if operations[id.Operation].Definite(status) {
			return
		}
		select {
		case <-time.After(time.Duration(10+rand.IntN(40)) * time.Millisecond):
		case <-l.ctx.Done():
		}
	}
}

// send sends one request and records it.
func (l *load) send(ctx context.Context, id history.Identity, reference string, afterwards bool) int {
	q := history.Request{Identity: id, Reference: reference, Invoke: l.w.recorder.Now(), Afterwards: afterwards}
	l.exchange(ctx, &q)
	q.Return = l.w.recorder.Now()
	l.w.recorder.Add(q)
	return q.Status
}

// exchange fills in the answer. Without all of it there is none.
func (l *load) exchange(ctx context.Context, q *history.Request) {
	url := l.w.service.Load().url + q.Operation
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"reference":%q}`, q.Reference)))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", `"`+q.Key+`"`)
	r.Header.Set(scopeHeader, q.Scope)
	res, err := l.client.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }() // it was read, or it failed
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	q.Status, q.Body = res.StatusCode, string(body)
	q.Replayed = res.Header.Get("Idempotent-Replayed") == "true"
	q.Headers = res.Header.Get("Content-Type") + " " + res.Header.Get("Location")
}

// repeat sends every acknowledged request once more, until the answer is definite.
func (l *load) repeat(workers int) {
	queue := make(chan history.Request)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for q := range queue {
				for !operations[q.Operation].Definite(l.send(l.ctx, q.Identity, q.Reference, true)) && l.ctx.Err() == nil {
				}
			}
		})
	}
	for _, q := range acknowledged(l.w.recorder.Requests()) {
		queue <- q
	}
	close(queue)
	wg.Wait()
}

// acknowledged are the requests that got the first answer of their own of each identity.
func acknowledged(requests []history.Request) (out []history.Request) {
	seen := map[history.Identity]bool{}
	for _, q := range requests {
		op := operations[q.Operation]
		own := q.Status != 0 && slices.Contains([]int{op.Success, op.Refusal}, q.Status)
		if own && !seen[q.Identity] {
			seen[q.Identity] = true
			out = append(out, q)
		}
	}
	return out
}
