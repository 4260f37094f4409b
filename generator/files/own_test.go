package files

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

// What is the user's own stays as it is, edited or not; only the mark of its origin
// is taken out, so that nothing takes it for emitted later. A second run changes
// nothing.
func TestOwnFilesStay(t *testing.T) {
	const edited = own + "edited"
	tree := open(t, map[string]string{"out/a.go": edited, "idemgen.lock": "out/a.go " + hashOf([]byte(own+"a")) + "\n"})
	want := []File{{Path: "out/a.go", Own: true}}
	got, diags := sync(t, tree, want)
	equal(t, got, "write out/a.go, write idemgen.lock")
	have := content(t, tree)
	if len(diags) > 0 || have["out/a.go"] != "// "+ejectedMark+"\nedited" || strings.Contains(have["idemgen.lock"], "out/a.go") {
		t.Errorf("got %v and %v", diags, have)
	}
	got, _ = sync(t, tree, want)
	equal(t, got, "keep out/a.go, keep idemgen.lock")

	// Wanted again: it is in the way, not overwritten.
	if _, diags := sync(t, tree, []File{{Path: "out/a.go", Content: []byte(own + "a")}}); len(diags) != 1 || diags[0].Code != diag.ForeignFile {
		t.Errorf("got %v", diags)
	}
}

// One that is lost is told: what refers to it would not compile.
func TestOwnFileIsMissed(t *testing.T) {
	tree := open(t, nil)
	if _, diags := sync(t, tree, []File{{Path: "out/a.go", Own: true}}); len(diags) != 1 || diags[0].Code != diag.ConfigMissing || diags[0].Hint == "" {
		t.Errorf("got %v", diags)
	}
}
