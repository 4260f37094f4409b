package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/idemgen/idemgen/bench/faults/history"
)

// The places of effects. Those of the receiver are its paths too.
const (
	placeEffects = "effects"
	placeLines   = "lines"
	placeCalls   = "/calls"
	placeEvents  = "/events"
)

// receiver is the other system: it is called, and gets events. It knows requests
// by their keys, and loses some of its answers. It has no faults that it isn't
// meant to have.
type receiver struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}

	mu    sync.Mutex
	keys  map[string]map[string]map[string]bool // path, reference, key
	count int
}

// loses is how many requests the receiver has to get for the loss of one answer.
const loses = 23

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: listener, served: make(chan struct{}), keys: map[string]map[string]map[string]bool{placeCalls: {}, placeEvents: {}}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+placeCalls, r.receive)
	mux.HandleFunc("POST "+placeEvents, r.receive)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener) // until stop
	}()
	return r, nil
}

func (r *receiver) url() string { return "http://" + r.listener.Addr().String() }

func (r *receiver) stop() error {
	err := r.server.Close()
	<-r.served
	return err
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	var in struct{ Reference string }
	key := req.Header.Get("Idempotency-Key")
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil || key == "" || in.Reference == "" {
		http.Error(w, "no reference, or no key", http.StatusBadRequest)
		return
	}
	if !r.note(req.URL.Path, in.Reference, key) {
		panic(http.ErrAbortHandler) // done, and nobody is told
	}
	fmt.Fprintf(w, "%x", sha256.Sum256([]byte(key)))
}

// note remembers a request, and says whether it is answered.
func (r *receiver) note(path, reference, key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.keys[path][reference]
	if known == nil {
		known = map[string]bool{}
		r.keys[path][reference] = known
	}
	known[key] = true
	r.count++
	return r.count%loses != 0
}

// effects are the different keys that came with each reference.
func (r *receiver) effects() (out []history.Effect) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for place, references := range r.keys {
		for reference, keys := range references {
			out = append(out, history.Effect{Place: place, Reference: reference, Count: len(keys)})
		}
	}
	return out
}
