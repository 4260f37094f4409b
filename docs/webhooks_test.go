package docs_test

import (
	"os"
	"strings"
	"testing"
)

// TestWebhookExamplesRun holds the examples to code that runs: the verifiers to the
// Example tests, the receiver to the example service.
func TestWebhookExamplesRun(t *testing.T) {
	var code strings.Builder
	for _, file := range []string{"../idem/webhook/example_test.go", "../example-service/webhooks.go", "../example-service/db/queries/webhooks.sql"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	checked := 0
	for _, b := range readPage(t, "webhooks.md").blocks {
		if strings.HasPrefix(b.text, "out, meta, err := svc.") {
			continue // typed calls are tested by their own page
		}
		checked++
		if !strings.Contains(code.String(), b.text) {
			t.Errorf("webhooks.md:%d: this is in no file that runs:\n%s", b.line, b.text)
		}
	}
	if checked < 8 {
		t.Errorf("only %d examples", checked)
	}
}
