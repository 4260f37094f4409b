package client_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/client"
)

// The example of the page is the one that runs, and its table is what Canonical does.
func TestThePageSaysWhatRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/retries.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	indented := "\t" + strings.TrimSuffix(strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n\t"), "\t")
	if len(block) < 100 || !strings.Contains(string(source), indented) {
		t.Errorf("this is not in ExampleClient_Do:\n%s", indented)
	}
	rows := regexp.MustCompile("(?m)^\\| (`[-0-9].*) \\| `(.*)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != 4 {
		t.Fatalf("%d rows of numbers", len(rows))
	}
	for _, row := range rows {
		for _, number := range strings.Split(row[1], ", ") {
			got, err := client.Canonical([]byte(strings.Trim(number, "`")))
			if err != nil || string(got) != row[2] {
				t.Errorf("%s: %s, %v; the page says %s", number, got, err, row[2])
			}
		}
	}
}
