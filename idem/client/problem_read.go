package client

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// codeInFlight is the code of a request that another copy of is running, in the
// gateway profile too, whose answer has no body.
const codeInFlight = "in-flight"

// problemBody is what refusals say of themselves: the members of RFC 9457 and
// idemgen's, and `message` of the gateway profile.
type problemBody struct {
	Type     string          `json:"type"`
	Title    string          `json:"title"`
	Detail   string          `json:"detail"`
	Instance string          `json:"instance"`
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Existing json.RawMessage `json:"existing"`
	Errors   []FieldError    `json:"errors"`
}

// problemOf reads a refusal; body is all of it.
func (c *Client) problemOf(operation string, resp *http.Response, body []byte, meta *Meta) *Problem {
	p := readProblem(operation, resp.StatusCode, resp.Header, body)
	p.Key, p.Tries = meta.Key, meta.Tries
	if retryable := retryableOf(body); retryable != nil {
		p.Retryable = *retryable
	} else {
		p.Retryable = c.o.Profile.transientAnswer(resp, body)
	}
	if c.o.Profile.inFlight(resp) {
		p.Code, p.Title = codeInFlight, "The same request is running"
	}
	return p
}

// readProblem reads what a refusal says of itself.
func readProblem(operation string, status int, header http.Header, body []byte) *Problem {
	var read problemBody
	if json.Unmarshal(body, &read) != nil {
		read = problemBody{}
	}
	if status >= 300 && status < 400 {
		read.Detail = cmp.Or(read.Detail, "The answer is a redirect, which is not followed: is the base URL the right one?")
	}
	return &Problem{
		Operation: operation, Status: status, Code: read.Code, Type: read.Type,
		Title: cmp.Or(read.Title, http.StatusText(status)), Detail: cmp.Or(read.Detail, read.Message),
		Instance: read.Instance, Fields: read.Errors, Existing: read.Existing,
		Header: header, Body: body[:min(len(body), peekSize)],
	}
}

// retryableOf is whether a refusal says that it may pass, nil if it says nothing.
func retryableOf(body []byte) *bool {
	var read struct {
		Retryable *bool `json:"retryable"`
	}
	if json.Unmarshal(body, &read) != nil {
		return nil
	}
	return read.Retryable
}
