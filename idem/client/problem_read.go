package client

import (
	"encoding/json"
	"net/http"
)

// codeInFlight is the code of a request that another copy of is running, in the
// gateway profile too, whose answer has no body.
const codeInFlight = "in-flight"

// problemBody is what refusals say of themselves: the members of RFC 9457 and
// idemgen's, and `message` of the gateway profile.
type problemBody struct {
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Detail    string          `json:"detail"`
	Instance  string          `json:"instance"`
	Code      string          `json:"code"`
	Message   string          `json:"message"`
	Retryable *bool           `json:"retryable"`
	Existing  json.RawMessage `json:"existing"`
	Errors    []FieldError    `json:"errors"`
}

// problemOf reads a refusal; body is all of it.
func (c *Client) problemOf(operation string, resp *http.Response, body []byte, meta *Meta) *Problem {
	var read problemBody
	if json.Unmarshal(body, &read) != nil {
		read = problemBody{}
	}
	p := &Problem{
		Operation: operation, Status: resp.StatusCode, Code: read.Code, Type: read.Type, Title: read.Title,
		Detail: read.Detail, Instance: read.Instance, Key: meta.Key, Fields: read.Errors, Existing: read.Existing,
		Header: resp.Header, Body: body[:min(len(body), peekSize)], Tries: meta.Tries,
		Retryable: c.o.Profile.transientAnswer(resp, body),
	}
	if c.o.Profile.inFlight(resp) {
		p.Code, p.Title = codeInFlight, "The same request is running"
	}
	if p.Detail == "" {
		p.Detail = read.Message
	}
	if p.Title == "" {
		p.Title = http.StatusText(resp.StatusCode)
	}
	if read.Retryable != nil {
		p.Retryable = *read.Retryable
	}
	return p
}
