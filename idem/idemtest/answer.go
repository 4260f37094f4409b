package idemtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func serve(h http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	result := w.Result()
	_ = result.Body.Close() // of a recorder: nothing to close
	return answer{result.StatusCode, result.Header, w.Body.Bytes()}
}

// String is an answer as messages show it.
func (a answer) String() string {
	body := a.body
	if len(body) > 300 {
		body = slices.Concat(body[:300], []byte(" …"))
	}
	return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(body))
}

func (a answer) success() bool { return a.status >= 200 && a.status < 400 }

// definite: what happened is known, and repeating does not help.
func (a answer) definite() bool { return a.status >= 400 && a.status < 500 && a.code() != "in-flight" }

// code is what a problem (RFC 9457) is called.
func (a answer) code() string {
	var problem struct{ Code, Type string }
	if json.Unmarshal(a.body, &problem) != nil {
		return ""
	}
	if problem.Code == "" {
		problem.Code = problem.Type[strings.LastIndexAny(problem.Type, ":/")+1:]
	}
	return problem.Code
}

// replayed is what the answer says of itself: "true", "false" or "".
func (a answer) replayed() string { return a.header.Get(replayedHeader) }

// is says how an answer differs from a problem.
func (a answer) is(status int, code string) error {
	if a.status == status && a.code() == code {
		return nil
	}
	return fmt.Errorf("want %d %s, got %s", status, code, a)
}

// unreplayable are headers that are no part of a recorded answer: of one
// connection, of one client, or about the replay itself.
var unreplayable = []string{
	"Set-Cookie", "Authorization", "Www-Authenticate", "Date", "Connection", "Keep-Alive", "Proxy-Authenticate",
	"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	replayedHeader, "Content-Length",
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
	if err := a.same(first); err != nil {
		return err
	}
	if a.replayed() != "true" {
		return fmt.Errorf("%s is %q in a replay, want true", replayedHeader, a.replayed())
	}
	return nil
}

// repeats says why an answer does not stand for the first one. How faithful a
// replay is has checks of its own; so each fault is told once.
func (a answer) repeats(op *Operation, first answer) error {
	switch {
	case op.Tombstone:
		return a.is(http.StatusConflict, "response-not-stored")
	case a.status != first.status:
		return fmt.Errorf("got %s, but the first answer was %s", a, first)
	}
	return nil
}
