package idem

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// traceContext is what events keep of a request's trace, as W3C Trace Context
// names it: https://www.w3.org/TR/trace-context/.
type traceContext struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}

type traceKey struct{}

// WithTraceContext gives the events of operations that are called with ctx a
// trace context, in the form of the headers traceparent and tracestate: Call, Do,
// the methods of an emitted service, and requests whose middleware has a span of
// its own. Over HTTP the request's own headers are used otherwise. What is not
// valid by W3C Trace Context is left out.
func WithTraceContext(ctx context.Context, traceparent, tracestate string) context.Context {
	return context.WithValue(ctx, traceKey{}, traceContext{traceparent, tracestate})
}

// traceOf is the trace context of ctx, else of header, which may be nil.
func traceOf(ctx context.Context, header http.Header) traceContext {
	if t, ok := ctx.Value(traceKey{}).(traceContext); ok {
		return t.valid()
	}
	parents := header.Values("Traceparent")
	if len(parents) != 1 {
		return traceContext{}
	}
	return traceContext{parents[0], strings.Join(header.Values("Tracestate"), ",")}.valid()
}

// json is the headers of an event, nil where there is no trace.
func (t traceContext) json() []byte {
	if t.Parent == "" {
		return nil
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil // can't happen: strings always encode
	}
	return text
}

// maxTraceState is how many bytes of a tracestate are kept; the standard asks
// for 512 at least.
const maxTraceState = 512

// valid leaves out what is not valid.
func (t traceContext) valid() traceContext {
	t.Parent = strings.Trim(t.Parent, " \t")
	if !validTraceParent(t.Parent) {
		return traceContext{}
	}
	t.State = strings.Trim(t.State, " \t")
	printable := func(r rune) bool { return r >= ' ' && r <= '~' || r == '\t' }
	if len(t.State) > maxTraceState || strings.ContainsFunc(t.State, func(r rune) bool { return !printable(r) }) {
		t.State = ""
	}
	return t
}

// validTraceParent: version, trace, span and flags in hex, section 3.2 of the
// standard. A version above 00 may have more behind them.
func validTraceParent(s string) bool {
	const size = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(s) < size || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	version, trace, span, flags := s[:2], s[3:35], s[36:52], s[53:55]
	if !isLowerHex(version+trace+span+flags) || version == "ff" || strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
		return false
	}
	if version == "00" {
		return len(s) == size
	}
	return len(s) <= maxTraceState && (len(s) == size || s[size] == '-') && isPrintable(s)
}

func isLowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}
