package idemtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
)

// answer is what came back, read by a profile's rules.
type answer struct {
	status int
	header http.Header
	body   []byte
	by     *protocol
}

func (by *protocol) serve(h http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	result := w.Result()
	_ = result.Body.Close() // of a recorder: nothing to close
	return answer{result.StatusCode, result.Header, w.Body.Bytes(), by}
}

// String is an answer as messages show it.
func (a answer) String() string { return a.shown(300) }

// enoughShown is for answers by which the reader has to mend a request: a
// problem lists all that is wrong with it.
const enoughShown = 4000

// shown is an answer with so many bytes of its body, at most.
func (a answer) shown(most int) string {
	body := a.body
	if len(body) > most {
		body = slices.Concat(body[:most], []byte(" …"))
	}
	return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(body))
}

func (a answer) success() bool { return a.status >= 200 && a.status < 400 && !a.inFlight() }

// definite: what happened is known, and repeating does not help.
func (a answer) definite() bool { return a.status >= 400 && a.status < 500 && !a.inFlight() }

func (a answer) inFlight() bool { return a.code() == codeInFlight }

// code is what a problem (RFC 9457) is called. Profile gateway has no such
// words: a refusal is its status there. Bodies of the service's own have none
// either, so that a Retry-After has to tell a request in flight.
func (a answer) code() string {
	switch {
	case a.by.running != "":
		if a.marker() == a.by.running && !a.acceptedBefore() {
			return codeInFlight
		}
	case !a.by.coded:
		if a.status == a.by.flight && a.header.Get("Retry-After") != "" {
			return codeInFlight
		}
	}
	if !a.by.coded {
		return ""
	}
	var problem struct{ Code, Type string }
	if json.Unmarshal(a.body, &problem) != nil {
		return ""
	}
	if problem.Code == "" {
		problem.Code = problem.Type[strings.LastIndexAny(problem.Type, ":/")+1:]
	}
	return problem.Code
}

// marker is what the answer says was made of the key.
func (a answer) marker() string { return a.header.Get(a.by.marker) }

// replayed: the answer says that it is a recorded one.
func (a answer) replayed() bool { return a.marker() == a.by.replay || a.acceptedBefore() }

// acceptedBefore: an async operation that was accepted before is not done yet,
// which profile gateway has a word for.
func (a answer) acceptedBefore() bool {
	return a.status == http.StatusAccepted && a.by.running != "" && a.marker() == a.by.running
}

// is says how an answer differs from a refusal.
func (a answer) is(code string) error {
	status, want := a.by.statusOf(code), code
	switch {
	case code == codeInFlight && a.by.running != "":
		if len(a.body) > 0 {
			return fmt.Errorf("want no body while the request is in flight, got %s", a)
		}
	case !a.by.coded:
		if a.status == status && a.inFlight() == (code == codeInFlight) {
			return nil
		}
	case !a.by.problems:
		want = strconv.Itoa(status)
	}
	if a.status == status && a.code() == want {
		return nil
	}
	err := fmt.Errorf("want %d %s, got %s", status, want, a)
	if a.status == status && a.by.coded {
		err = fmt.Errorf("%w\nIf the service has bodies of its own for refusals, set Kit.OwnProblems.", err)
	}
	return err
}

// unreplayable are headers that are no part of a recorded answer: of one
// connection, of one client, or about the replay itself.
var unreplayable = []string{
	"Set-Cookie", "Authorization", "Www-Authenticate", "Date", "Connection", "Keep-Alive", "Proxy-Authenticate",
	"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Idempotent-Replayed", "X-Idempotency-Status", "Content-Length",
}

// same says how an answer differs from the first one.
func (a answer) same(first answer) error {
	if a.status != first.status || !bytes.Equal(a.body, first.body) {
		return fmt.Errorf("got %s, but the first answer was %s", a, first)
	}
	return nil
}

// sameHeaders says how an answer's headers differ from those of the first one.
func (a answer) sameHeaders(first answer) error {
	var differ []error
	for _, header := range []http.Header{a.header, first.header} {
		for name := range header {
			if !slices.Contains(unreplayable, name) && !slices.Equal(a.header[name], first.header[name]) {
				differ = append(differ, fmt.Errorf("header %s: %q, but first %q", name, a.header[name], first.header[name]))
			}
		}
	}
	return errors.Join(differ...)
}

// replays says why an answer is no replay of the first one: its bytes, marked.
func (a answer) replays(op *Operation, first answer) error {
	if err := a.repeats(op, first); err != nil || op.Tombstone {
		return err
	}
	return errors.Join(a.same(first), a.marked(a.by.replay))
}

// marked says whether an answer tells what was made of the key.
func (a answer) marked(want string) error {
	if want == a.by.replay && a.acceptedBefore() {
		return nil
	}
	if got := a.marker(); got != want {
		return fmt.Errorf("header %s is %q, want %q", a.by.marker, got, want)
	}
	return nil
}

// repeats says why an answer does not stand for the first one. How faithful a
// replay is has checks of its own; so each fault is told once.
func (a answer) repeats(op *Operation, first answer) error {
	switch {
	case op.Tombstone && first.success():
		return a.is(codeNotStored)
	case a.status != first.status || a.inFlight():
		return fmt.Errorf("got %s, but the first answer was %s", a, first)
	}
	return nil
}
