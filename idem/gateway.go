package idem

import (
	"net/http"
	"strconv"
)

func gateway() *protocol {
	return &protocol{
		keyHeader: gatewayKeyHeader, parseKey: parseGatewayKey, writeKey: func(key string) string { return key },
		keyTitle: "invalid idempotency key",
		keyRule:  "It must be 3 to 128 characters of A-Z, a-z, 0-9, dot, underscore and hyphen.",
		told:     gatewayStatus, replayed: gatewayState,
		reused: http.StatusUnprocessableEntity, acceptsRunning: true, refusal: gatewayRefusal,
	}
}

// The bounds of a gateway's key, in characters, which are bytes here.
const minGatewayKey, maxGatewayKey = 3, 128

// parseGatewayKey takes a key as it stands: there is no quoted form.
func parseGatewayKey(text string) (string, bool) {
	if len(text) < minGatewayKey || len(text) > maxGatewayKey {
		return "", false
	}
	for i := range len(text) {
		if !isGatewayKey(text[i]) {
			return "", false
		}
	}
	return text, true
}

func isGatewayKey(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// gatewayState is the value of X-Idempotency-Status.
func gatewayState(ans *answer) string {
	switch {
	case ans.event == EventProcessing, ans.replayed && ans.pending:
		return "processing"
	case ans.replayed:
		return "duplicate"
	}
	return "new"
}

// gatewayError is the one form of a gateway's errors. Code is the status: what
// tells errors of one status apart is the message.
type gatewayError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func gatewayRefusal(p problem) (string, []byte) {
	message := p.Title
	if p.Detail != "" {
		message += ": " + p.Detail
	}
	separator := ": "
	for _, field := range p.Errors {
		message += separator + field.Pointer + " " + field.Detail
		separator = "; "
	}
	return "application/json", marshal(gatewayError{strconv.Itoa(p.Status), message})
}
