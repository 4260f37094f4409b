package webhook

import (
	"errors"
	"testing"

	"github.com/idemgen/idemgen/idem"
)

// A document that says its type or id twice is refused: readers disagree which of them
// counts, and a type that nobody takes is acknowledged.
func TestMembersThatAreThereTwiceAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"id": "i", "type": "t"}`:                                 "i t",
		` {"x": {"type": "u", "id": "j"}, "type": "t", "id": "i"}`: "i t",
		`{"id": "i", "type": "t", "x": 1, "x": 2, "Type": "u"}`:    "i t",
		`{"id": 5}`:                       " ",
		`{}`:                              " ",
		`{"type": "t", "type": "other"}`:  "",
		`{"type": "t", "typ\u0065": "t"}`: "",
		`{"id": "i", "id": null}`:         "",
		`null`:                            "",
		`[]`:                              "",
		`{"id": "i"} {}`:                  "",
		``:                                "",
	} {
		got, err := texts([]byte(body), "id", "type")
		var refused *idem.Error
		switch {
		case want == "" && (!errors.As(err, &refused) || refused.Status != 400):
			t.Errorf("%s: %q, %v", body, got, err)
		case want != "" && (err != nil || got[0]+" "+got[1] != want):
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}
