package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testNames finds the tests of the repository, each as the folder at its top and
// the name.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _, _ := strings.Cut(filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))), "/")
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names[folder+"/"+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestSituationsAreProved holds the table of situations to the tests: those that
// it names exist, and those that are named after a case of a handler, or after
// what breaks a naive one, are in it.
func TestSituationsAreProved(t *testing.T) {
	folders := map[string]string{"": "idem", "(e)": "example-service", "(g)": "generator", "(b)": "bench"}
	mention := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`( \\([egb]\\))?")
	text := section(t, readPage(t, "semantics.md"), "Situations and their tests")
	exist, named := testNames(t), map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		row := strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| situation")
		found := mention.FindAllStringSubmatch(line, -1)
		if row && len(found) == 0 {
			t.Errorf("nothing proves: %s", line)
		}
		for _, m := range found {
			name := folders[strings.TrimSpace(m[2])] + "/" + m[1]
			named[name] = true
			if !exist[name] {
				t.Errorf("there is no %s: %s", name, line)
			}
		}
	}
	wanted := regexp.MustCompile(`/Test(Case_(crash|race|replay|scope|key|print|store|db|sweep)|Pitfall)_\d`)
	for name := range exist {
		folder, _, _ := strings.Cut(name, "/")
		if wanted.MatchString(name) && slices.Contains([]string{"idem", "example-service", "generator", "bench"}, folder) && !named[name] {
			t.Errorf("%s is in no row of semantics.md", name)
		}
	}
	if len(named) < 90 {
		t.Errorf("only %d tests are named", len(named))
	}
}
