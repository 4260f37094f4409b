package idem

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/idemgen/idemgen/gen"
)

var acceptWork = newQuery(gen.AcceptWork)

// accept writes an async operation down: one statement, one round trip. A
// repetition gets the same answer, whatever has become of it since.
func (s *Service) accept(ctx context.Context, inv *invocation) *answer {
	event := newUUID4()
	params := append([][]byte{[]byte(millis(max(inv.wait(), time.Second)))}, inv.claimParams()...)
	statement := acceptWork.with(append(params, []byte(event), inv.storedText(s.callers))...)
	var tries tries
	for {
		inv.seen.attempt()
		results, err := inv.pool.writeAside(ctx, statement)
		switch {
		case isLockTimeout(err):
			return s.refuse(inv, errInFlight())
		case err != nil:
			return s.unaccepted(ctx, inv, err)
		case len(results[0].rows) > 0:
			return s.acceptedBy(inv, event, results[0].rows[0])
		case !tries.more(&tries.vanished, maxVanished, RetryVanished):
			return s.refuse(inv, errInFlight())
		}
	}
}

// unaccepted is the answer where nothing could be written down.
func (s *Service) unaccepted(ctx context.Context, inv *invocation, err error) *answer {
	switch code := sqlState(err); {
	case code == "" || isOutage(code) || serializations[code] != "":
		return s.refuse(inv, errUnavailable(err))
	case isBadInput(code):
		return s.refuse(inv, errBadInput())
	}
	return s.breakdown(ctx, inv, err)
}

// acceptedBy reads a row of acceptWork: accepted, event_id, fingerprint, pending.
func (s *Service) acceptedBy(inv *invocation, event string, row [][]byte) *answer {
	ans := s.acceptedAs(inv, string(row[1]))
	// Sent again on another connection, the statement meets what it has written.
	if isTrue(row[0]) || string(row[1]) == event {
		s.wakeIn(inv.pool, 0)
		return ans
	}
	ans.replayed, ans.pending, ans.print = true, isTrue(row[3]), bytesOfHex(row[2])
	return s.judge(inv, ans)
}

// acceptedAs is the answer to a request of an async operation. It is
// gone where nobody knows the event any more.
func (s *Service) acceptedAs(inv *invocation, event string) *answer {
	if event == "" {
		return &answer{status: http.StatusAccepted, gone: true}
	}
	return &answer{
		status: http.StatusAccepted, body: marshal(Accepted{event}),
		headers: map[string]string{"Location": inv.pathOf() + "/" + event},
	}
}

// pathOf is the path of the request, as the operation's pattern has it.
func (inv *invocation) pathOf() string {
	var path strings.Builder
	rest := inv.op.Path
	for {
		before, after, found := strings.Cut(rest, "{")
		path.WriteString(before)
		if !found {
			return strings.TrimSuffix(path.String(), "/")
		}
		name, tail := cutPathParameter(after)
		path.WriteString(url.PathEscape(inv.input(FromPath, name)))
		rest = tail
	}
}

// cutPathParameter ends a parameter of a chi pattern at its brace; those of a
// regular expression are in pairs.
func cutPathParameter(text string) (name, rest string) {
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			name, _, _ = strings.Cut(text[:i], ":")
			return name, text[i+1:]
		}
	}
	return text, ""
}

// Submit runs the request half of an async operation from Go, with the same claim
// as over HTTP: see Call for what it takes and gives.
func (s *Service) Submit(ctx context.Context, name Name, caller []any, key string, in []any) (Accepted, Meta, error) {
	op := s.operations[name]
	if op == nil || !op.Async {
		return Accepted{}, Meta{}, fmt.Errorf("idem: the service has no async operation %q", name)
	}
	ans, meta, err := s.callFor(ctx, op, caller, key, in)
	if err != nil {
		return Accepted{}, meta, err
	}
	var accepted Accepted
	err = json.Unmarshal(ans.body, &accepted)
	return accepted, meta, err
}
