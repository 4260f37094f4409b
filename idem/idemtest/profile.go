package idemtest

import (
	"fmt"
	"net/http"
	"strings"
)

// protocol is what a profile says about keys and answers; docs/semantics.md.
type protocol struct {
	keyHeader string
	// marker says in an answer what was made of the key: ran for an execution,
	// replay for a recorded answer, running for one in flight ("": no such word).
	marker, ran, replay, running string
	problems                     bool // refusals are RFC 9457; else {"code": "STATUS", "message": "…"}
	reused, flight               int  // the statuses of key-reused and in-flight
	malformed                    [][]string
	longest                      int  // characters of a key
	quotes                       bool // a key may be a structured-field string (RFC 9651)
	// coded: the bodies of refusals say what they are called; not with
	// Kit.OwnProblems.
	coded bool
}

// protocols are the profiles of Kit.Profile.
var protocols = map[string]*protocol{
	"ietf": {
		keyHeader: "Idempotency-Key", marker: "Idempotent-Replayed", ran: "false", replay: "true",
		problems: true, reused: http.StatusUnprocessableEntity, flight: http.StatusConflict,
		malformed: malformed, longest: 255, quotes: true,
	},
	"stripe": {
		keyHeader: "Idempotency-Key", marker: "Idempotent-Replayed", ran: "false", replay: "true",
		problems: true, reused: http.StatusBadRequest, flight: http.StatusConflict,
		malformed: malformed, longest: 255, quotes: true,
	},
	"gateway": {
		keyHeader: "X-Idempotency-Key", marker: "X-Idempotency-Status", ran: "new", replay: "duplicate", running: "processing",
		reused: http.StatusUnprocessableEntity, flight: http.StatusOK,
		malformed: malformedTokens, longest: 128,
	},
}

// protocolOf finds a profile, "" is ietf.
func protocolOf(profile string, ownProblems bool) (*protocol, error) {
	if profile == "" {
		profile = "ietf"
	}
	if known := protocols[profile]; known != nil {
		by := *known
		by.coded = !ownProblems
		return &by, nil
	}
	return nil, fmt.Errorf("Kit.Profile is %q; it must be ietf, stripe or gateway", profile)
}

// malformed are header lines that hold no key.
var malformed = [][]string{
	{""}, {" "}, {`""`}, {strings.Repeat("k", 256)}, {"a b"}, {"a\x01b"}, {"a\x7f"}, {"a\x00"}, {"ключ"}, {"\xff\xfe"},
	{"a,b"}, {`a"b`}, {`a\b`}, {`"abc`}, {`abc"`}, {`"a"b`}, {`"a\c"`}, {"one", "two"}, {"same", "same"},
}

// malformedTokens are header lines that hold no key of 3 to 128 characters of
// A-Z a-z 0-9 . _ -
var malformedTokens = [][]string{
	{""}, {" "}, {"ab"}, {strings.Repeat("k", 129)}, {"a b c"}, {"a\x01bc"}, {"abc\x7f"}, {"abc\x00"}, {"ключ"}, {"\xff\xfe\xfd"},
	{"a,bc"}, {"a/bc"}, {"a:bc"}, {`a"bc`}, {`a\bc`}, {`"abcd`}, {"one", "two"}, {"same", "same"},
}

// statusOf is the status of a refusal.
func (by *protocol) statusOf(code string) int {
	switch code {
	case codeReused:
		return by.reused
	case codeInFlight:
		return by.flight
	case codeMissing, codeInvalid:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// The refusals that the kit knows, as ietf calls them.
const (
	codeMissing   = "key-missing"
	codeInvalid   = "key-invalid"
	codeReused    = "key-reused"
	codeInFlight  = "in-flight"
	codeNotStored = "response-not-stored"
	codeIntent    = "intent-conflict"
)

var keyEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// echoOf is how an answer should tell a key.
func (by *protocol) echoOf(key string) string {
	if !by.quotes {
		return key
	}
	return `"` + keyEscapes.Replace(key) + `"`
}
