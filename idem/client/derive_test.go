package client_test

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/client"
	"pgregory.net/rapid"
)

type vectors struct {
	Canonical []struct{ Name, Payload, Canonical string }
	Keys      []struct {
		Name, Secret, Session, Step, Tool, Key string
		Payload                                *string
	}
	Refused []struct{ Name, Payload string }
}

// The vectors were made by a second implementation, in another language.
func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Canonical) == 0 || len(v.Keys) == 0 || len(v.Refused) == 0 {
		t.Fatal("vectors are missing")
	}
	return v
}

func TestCanonicalGivesTheVectors(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Canonical {
		got, err := client.Canonical(json.RawMessage(c.Payload))
		if err != nil || string(got) != c.Canonical {
			t.Errorf("%s: %s, %v; want %s", c.Name, got, err, c.Canonical)
		}
	}
	for _, c := range v.Refused {
		if got, err := client.Canonical([]byte(c.Payload)); err == nil {
			t.Errorf("%s: %s, want an error", c.Name, got)
		}
	}
}

func TestDerivedKeysAreTheVectors(t *testing.T) {
	for _, c := range readVectors(t).Keys {
		secret, err := hex.DecodeString(c.Secret)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if c.Payload == nil {
			got, err = client.DeriveStepKey(secret, c.Session, c.Step, c.Tool)
		} else {
			got, err = client.DeriveKey(secret, c.Session, c.Step, c.Tool, json.RawMessage(*c.Payload))
		}
		if err != nil || got != c.Key {
			t.Errorf("%s: %s, %v; want %s", c.Name, got, err, c.Key)
		}
	}
}

func TestDeriveKeyRefusesWhatWouldNotTellStepsApart(t *testing.T) {
	secret := []byte("sixteen bytes at")
	for name, derive := range map[string]func() (string, error){
		"short secret": func() (string, error) { return client.DeriveStepKey(secret[:15], "s", "1", "t") },
		"no session":   func() (string, error) { return client.DeriveStepKey(secret, "", "1", "t") },
		"no step":      func() (string, error) { return client.DeriveKey(secret, "s", "", "t", 1) },
		"no tool":      func() (string, error) { return client.DeriveKey(secret, "s", "1", "", 1) },
		"no JSON":      func() (string, error) { return client.DeriveKey(secret, "s", "1", "t", func() {}) },
		"not UTF-8":    func() (string, error) { return client.DeriveKey(secret, "s", "1", "t", []byte("\"\xff\"")) },
		"nested too far": func() (string, error) {
			return client.DeriveKey(secret, "s", "1", "t", []byte(strings.Repeat("[", 1001)))
		},
	} {
		if key, err := derive(); err == nil || key != "" {
			t.Errorf("%s: %q, %v; want an error", name, key, err)
		}
	}
}

// document makes JSON texts: the same value twice, written in two ways.
func document(t *rapid.T, depth int) (one, other string) {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return list(t, depth)
	case kind == 1 && depth > 0:
		return object(t, depth)
	case kind == 2:
		return text(rapid.String().Draw(t, "text"))
	case kind == 3:
		word := rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
		return word, word
	default:
		return number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?`).Draw(t, "number"))
	}
}

func number(plain string) (one, other string) {
	if strings.Contains(plain, ".") {
		whole, fraction, _ := strings.Cut(plain, ".")
		return plain, whole + "." + fraction + "000E+0"
	}
	return plain, plain + ".00e00"
}

// text writes every character as an escape the second time.
func text(s string) (one, other string) {
	plain, _ := json.Marshal(s)
	var escaped strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		if r > 0xffff {
			escaped.WriteRune(r)
			continue
		}
		escaped.WriteString(`\u` + hex.EncodeToString([]byte{byte(r >> 8), byte(r)}))
	}
	return string(plain), `"` + escaped.String() + `"`
}

func list(t *rapid.T, depth int) (one, other string) {
	var left, right []string
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		a, b := document(t, depth-1)
		left, right = append(left, a), append(right, b)
	}
	return "[" + strings.Join(left, ",") + "]", "[ " + strings.Join(right, " ,\n") + " ]"
}

// object writes its members in reverse the second time.
func object(t *rapid.T, depth int) (one, other string) {
	var left, right []string
	for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 3, rapid.ID).Draw(t, "names") {
		a, b := document(t, depth-1)
		n, m := text(name)
		left, right = append(left, n+":"+a), append([]string{m + " : " + b}, right...)
	}
	return "{" + strings.Join(left, ",") + "}", "{" + strings.Join(right, ",") + "}"
}

func TestCanonicalFormDoesNotDependOnTheWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := document(t, 3)
		a, err := client.Canonical([]byte(one))
		if err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		b, err := client.Canonical([]byte(other))
		if err != nil || string(a) != string(b) {
			t.Fatalf("%s gives %s\n%s gives %s, %v", one, a, other, b, err)
		}
		again, err := client.Canonical(a)
		if err != nil || string(again) != string(a) {
			t.Fatalf("canonical form of %s: %s, %v", a, again, err)
		}
	})
}

func TestCanonicalNumbersAreEqualExactlyWhereTheirValuesAre(t *testing.T) {
	numbers := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?(e-?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		one, other := numbers.Draw(t, "one"), numbers.Draw(t, "other")
		if rapid.Bool().Draw(t, "near") {
			other = strings.Replace(one, "1", "2", 1)
		}
		a, errA := client.Canonical([]byte(one))
		b, errB := client.Canonical([]byte(other))
		x, okA := new(big.Rat).SetString(one)
		y, okB := new(big.Rat).SetString(other)
		if errA != nil || errB != nil || !okA || !okB {
			t.Fatal(one, errA, okA, other, errB, okB)
		}
		if (x.Cmp(y) == 0) != (string(a) == string(b)) {
			t.Fatalf("%s: %s, %s: %s", one, a, other, b)
		}
		if z, ok := new(big.Rat).SetString(string(a)); !ok || z.Cmp(x) != 0 {
			t.Fatalf("%s became %s", one, a)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\ud83d\ude00"]}`, `"\`, `"\u`, `1e`, `{"a":1,"a":2}`, "\"\\ud83d\\"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := client.Canonical(data)
		if err != nil {
			return
		}
		again, err := client.Canonical(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%q gives %q, which gives %q, %v", data, out, again, err)
		}
	})
}
