package docs_test

import (
	"os"
	"strings"
	"testing"
)

// TestConsumerExamplesRun holds the examples to code that tests run.
func TestConsumerExamplesRun(t *testing.T) {
	var code strings.Builder
	for _, file := range []string{
		"../example-service/consumers.go", "../example-service/broker.go", "../example-service/db/queries/shipments.sql",
		"../adapters/nats/example_test.go", "../adapters/kafka/example_test.go", "../adapters/rabbitmq/example_test.go",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	checked := 0
	for _, b := range readPage(t, "consumers.md").blocks {
		if strings.HasPrefix(b.text, "out, meta, err := svc.") {
			continue // typed calls are tested by their own page
		}
		checked++
		if !strings.Contains(code.String(), b.text) {
			t.Errorf("consumers.md:%d: this is in no file that runs:\n%s", b.line, b.text)
		}
	}
	if checked < 5 {
		t.Errorf("only %d examples", checked)
	}
}
