package config

import (
	"testing"

	"github.com/idemgen/idemgen/generator/diag"
)

const ejectHead = "version: 1\nmigrations: db\nout: internal/api\nscope: caller.tenant_id\n"

// TestAddEject: one more operation, whatever form the list has, and all else,
// comments included, as it was.
func TestAddEject(t *testing.T) {
	for text, want := range map[string]string{
		ejectHead:                                      ejectHead + "eject: [Create]\n",
		ejectHead + "# the end":                        ejectHead + "# the end\neject: [Create]\n",
		"eject: [A] # mine\n" + ejectHead:              "eject: [A, Create] # mine\n" + ejectHead,
		"eject: [A, \"B\"]\n" + ejectHead:              "eject: [A, \"B\", Create]\n" + ejectHead,
		"eject: []\n" + ejectHead:                      "eject: [Create]\n" + ejectHead,
		"eject:\n  - A # one\n  - B\n" + ejectHead:     "eject:\n  - A # one\n  - B\n  - Create\n" + ejectHead,
		"eject:\n- 'A' # one\n" + ejectHead:            "eject:\n- 'A' # one\n- Create\n" + ejectHead,
		"eject: [\n  A,\n  CreateAll\n]\n" + ejectHead: "eject: [\n  A,\n  CreateAll, Create\n]\n" + ejectHead,
	} {
		if got, ok := AddEject("idemgen.yaml", text, "example.com/shop", "Create"); !ok || got != want {
			t.Errorf("%v\n%s\nwant\n%s", ok, got, want)
		}
	}
	for _, text := range []string{"eject: &x [A]\nother: *x\n" + ejectHead + "eject: [A]", "{version: 1, eject: [A]}\n# no block", "--- \neject: {A: B}\n"} {
		if got, ok := AddEject("idemgen.yaml", text, "example.com/shop", "A"); ok {
			t.Errorf("taken: %s", got)
		}
	}
}

func TestEjectForms(t *testing.T) {
	for text, want := range map[string]string{
		"eject: Create\n":           "`eject:` is a list of operations, this is a single value",
		"eject: [create]\n":         "an element of `eject:` is no name of an operation",
		"eject: [Create, Create]\n": "Create stands twice in `eject:`",
	} {
		var diags diag.List
		Parse("idemgen.yaml", []byte(ejectHead+text), "example.com/shop", &diags)
		if got := diags.Sorted(); len(got) != 1 || got[0].Message != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
