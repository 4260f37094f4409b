// Package gateway is the other system of the example service: a client for a card
// gateway, and a gateway to try it with.
package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Charge is what a gateway is asked for.
type Charge struct {
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Card      string `json:"card"`
	Reference string `json:"reference"`
}

// Payout is money that a gateway is asked to pay out.
type Payout struct {
	ID      int64 `json:"id"`
	Account int64 `json:"account_id"`
	Amount  int64 `json:"amount"`
}

// DeclinedCard is the card that the fake declines.
const DeclinedCard = "tok_declined"

// Stage is a point in the handling of a request by the fake.
type Stage string

// The stages at which Fake.Stop is asked.
const (
	Received Stage = "received" // nothing is done yet
	Done     Stage = "done"     // it is done, and the answer not sent
)

// Fake is a card gateway that honours Idempotency-Key, as real ones do, and can
// behave as badly as real ones do. It is an http.Handler, safe for concurrent use:
//
//	POST /charges            {"amount", "currency", "card", "reference"}
//	POST /charges/{id}/refund
//	POST /payouts            {"id", "account_id", "amount"}
type Fake struct {
	// Stop is asked at every stage of every request, if set, by many goroutines. It
	// may block. False: the connection is cut, and no answer is sent.
	Stop func(stage Stage, r *http.Request) bool
	// MostPaid is the largest payout that is not refused; 0: none is.
	MostPaid int64

	mu       sync.Mutex
	answers  map[string]answer // by key
	charges  []Charge          // in order; the id of the first is ch_1
	payouts  []Payout          // in order; the id of the first is po_1
	refunded map[string]bool
}

type answer struct {
	status int
	body   string
}

// Charges are the charges that were made.
func (f *Fake) Charges() []Charge {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Charge(nil), f.charges...)
}

// Payouts are the payouts that were made.
func (f *Fake) Payouts() []Payout {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Payout(nil), f.payouts...)
}

// Refunds is the number of charges that were given back.
func (f *Fake) Refunds() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.refunded)
}

func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var charge Charge
	var payout Payout
	var asked any = &charge
	if r.URL.Path == "/payouts" {
		asked = &payout
	}
	if err := json.NewDecoder(r.Body).Decode(asked); err != nil && r.ContentLength != 0 {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.stop(Received, r)
	got := f.once(r.Header.Get("Idempotency-Key"), func() answer { return f.do(r, charge, payout) })
	f.stop(Done, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(got.status)
	_, _ = fmt.Fprint(w, got.body) // a client that has gone asks again
}

// stop cuts the connection where Stop says so.
func (f *Fake) stop(stage Stage, r *http.Request) {
	if f.Stop != nil && !f.Stop(stage, r) {
		panic(http.ErrAbortHandler)
	}
}

// once does what a key names, the first time.
func (f *Fake) once(key string, do func() answer) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if got, known := f.answers[key]; known {
		return got
	}
	got := do()
	if key != "" {
		if f.answers == nil {
			f.answers = map[string]answer{}
		}
		f.answers[key] = got
	}
	return got
}

func (f *Fake) do(r *http.Request, charge Charge, payout Payout) answer {
	id, refund := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/charges/"), "/refund")
	switch {
	case r.Method == http.MethodPost && refund:
		if f.refunded == nil {
			f.refunded = map[string]bool{}
		}
		f.refunded[id] = true
		return answer{http.StatusOK, `{}`}
	case r.Method == http.MethodPost && r.URL.Path == "/payouts":
		return f.pay(payout)
	case r.Method != http.MethodPost || r.URL.Path != "/charges":
		return answer{http.StatusNotFound, `{"code": "not_found"}`}
	case charge.Card == DeclinedCard:
		return answer{http.StatusPaymentRequired, `{"code": "card_declined"}`}
	}
	f.charges = append(f.charges, charge)
	return answer{http.StatusCreated, fmt.Sprintf(`{"id": "ch_%d"}`, len(f.charges))}
}

func (f *Fake) pay(payout Payout) answer {
	if f.MostPaid > 0 && payout.Amount > f.MostPaid {
		return answer{http.StatusUnprocessableEntity, `{"code": "too_much"}`}
	}
	f.payouts = append(f.payouts, payout)
	return answer{http.StatusCreated, fmt.Sprintf(`{"id": "po_%d"}`, len(f.payouts))}
}
