package docs_test

import (
	"testing"

	"github.com/idemgen/idemgen/generator/contract"
)

// TestTheContractKnowsEveryProblem holds what OpenAPI documents and clients say
// to the runtime: a new code there is a new problem here.
func TestTheContractKnowsEveryProblem(t *testing.T) {
	known := map[string]problem{}
	for _, p := range contract.RuntimeProblems() {
		known[p.Code] = problem{p.Status, p.Retryable}
	}
	elsewhere := map[string]bool{
		"method-not-allowed": true, // of the router
		"forbidden":          true, // of Options.AuthorizeReplay; the document's default response
		"caller-invalid":     true, // of calls from Go
		// of webhooks and messages, which are no part of the contract with clients
		"delivery-id-missing": true,
		"message-id-missing":  true,
	}
	codes := problemCodes(t)
	for code, p := range codes {
		if got, ok := known[code]; !elsewhere[code] && (!ok || got != p) {
			t.Errorf("generator/contract has %s as %+v (%v), package idem as %+v", code, got, ok, p)
		}
	}
	for code := range known {
		if _, ok := codes[code]; !ok {
			t.Errorf("package idem has no problem %s", code)
		}
	}
}
