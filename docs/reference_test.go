package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/spec"
)

// TestReferenceIsWhatTheCodeKnows: docs/reference.md is made of the parser's table of
// words and of the descriptions in the JSON Schemas that editors show.
func TestReferenceIsWhatTheCodeKnows(t *testing.T) {
	const page = "reference.md"
	want := referencePage(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the code knows: go test ./docs -run Reference -update", page)
	}
}

// described is as much of a JSON Schema as the reference shows.
type described struct {
	Description          string
	Type                 any
	Enum                 []string
	Ref                  string `json:"$ref"`
	Properties           members
	AdditionalProperties json.RawMessage
	Defs                 map[string]described `json:"$defs"`
}

// members are properties in the order of the schema's text.
type members []member

type member struct {
	name string
	described
}

func (m *members) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		one := member{name: name.(string)}
		if err := decoder.Decode(&one.described); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

func describe(t *testing.T, text []byte) described {
	t.Helper()
	var d described
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// resolve follows a reference; a description beside it counts.
func (d described) resolve(m described) described {
	name, ok := strings.CutPrefix(m.Ref, "#/$defs/")
	if !ok {
		return m
	}
	to := d.Defs[name]
	if m.Description != "" {
		to.Description = m.Description
	}
	return to
}

// means is a member's description, with what it may be where that is a short list.
func (d described) means(t *testing.T, m member) string {
	t.Helper()
	to := d.resolve(m.described)
	text := to.Description
	if text == "" {
		t.Errorf("the schema does not describe %s", m.name)
	}
	if len(to.Enum) > 0 {
		text += " One of `" + strings.Join(to.Enum, "`, `") + "`."
	}
	return cell(text)
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + cell(text) + "`"
}

func referencePage(t *testing.T) string {
	t.Helper()
	specs, cfg := describe(t, spec.JSONSchema()), describe(t, config.JSONSchema())
	var b strings.Builder
	b.WriteString(`# Reference

Every word, key and policy in one place, made from the parser's own table and the JSON Schemas that editors show
(` + "`idemgen schema`, `idemgen schema specs`" + `). What they mean, with examples, is in [the language](language.md).

- [Words of statements](#words-of-statements)
- [Words of operations](#words-of-operations)
- [Reserved words](#reserved-words)
- [Keys of an endpoint](#keys-of-an-endpoint)
- [Keys of a step](#keys-of-a-step)
- [Keys of policies](#keys-of-policies)
- [Keys of idemgen.yaml](#keys-of-idemgenyaml)

A **problem** is ` + "`STATUS [code] [\"title\"]`" + `. A **source** is one of those in [sources](language.md#sources). Each word is a key of
[endpoint specs](language.md#endpoint-specs) too, with the same grammar.
`)
	language := spec.Language()
	wordTable(t, &b, "Words of statements", specs, language, func(w spec.Word) bool { return !w.Operation && !w.Reserved })
	wordTable(t, &b, "Words of operations", specs, language, func(w spec.Word) bool { return w.Operation && !w.Reserved })
	b.WriteString("\n## Reserved words\n\n")
	reserved := slices.DeleteFunc(slices.Clone(language), func(w spec.Word) bool { return !w.Reserved })
	if len(reserved) == 0 {
		b.WriteString("There are none: this version has every word of the language.\n")
	} else {
		b.WriteString("They belong to the language, and this version refuses them (IDEM010):")
		for i, w := range reserved {
			b.WriteString(map[bool]string{true: " ", false: ", "}[i == 0] + "`@" + w.Name + "`")
		}
		b.WriteString(".\n")
	}
	isWord := func(name string) bool {
		return slices.ContainsFunc(language, func(w spec.Word) bool { return w.Name == name })
	}
	keyTable(t, &b, "Keys of an endpoint", "Beside the words:", specs, specs.Defs["endpoint"], isWord)
	keyTable(t, &b, "Keys of a step", "Beside the words of statements:", specs, specs.Defs["step"], isWord)
	policyTable(t, &b, specs)
	configTable(t, &b, cfg)
	return b.String()
}

func wordTable(t *testing.T, b *strings.Builder, title string, specs described, language []spec.Word, wanted func(spec.Word) bool) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n| word | arguments | in a spec | stands | means | also tried as |\n|---|---|---|---|---|---|\n", title)
	for _, w := range language {
		if !wanted(w) {
			continue
		}
		stands := "repeats"
		if w.Once {
			stands = "once"
		}
		example := ""
		if w.Example != "" {
			example = w.Name + ": " + w.Example
		}
		var tried []string
		for _, alias := range w.Instead {
			tried = append(tried, "`@"+alias+"`")
		}
		fmt.Fprintf(b, "| `@%s` | %s | %s | %s | %s | %s |\n", w.Name, code(w.Form), code(example), stands, wordMeaning(t, specs, w), strings.Join(tried, ", "))
	}
}

// wordMeaning is what the schema says of a word, as a key of a step or of an endpoint.
func wordMeaning(t *testing.T, specs described, w spec.Word) string {
	t.Helper()
	place := map[bool]string{true: "endpoint", false: "step"}[w.Operation]
	for _, m := range specs.Defs[place].Properties {
		if m.name == w.Name {
			return specs.means(t, m)
		}
	}
	t.Errorf("@%s is no key of a spec's %s", w.Name, place)
	return ""
}

func keyTable(t *testing.T, b *strings.Builder, title, intro string, specs, of described, skip func(string) bool) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | means |\n|---|---|\n", title, intro)
	for _, m := range of.Properties {
		if !skip(m.name) {
			fmt.Fprintf(b, "| `%s:` | %s |\n", m.name, specs.means(t, m))
		}
	}
}

// policyTable shows what each profile says where nobody else does.
func policyTable(t *testing.T, b *strings.Builder, specs described) {
	t.Helper()
	b.WriteString("\n## Keys of policies\n\nOf `@policy`, `policy:` and `defaults:`; the defaults are those of the [profiles](semantics.md#profiles).\n\n" +
		"| key | means | `ietf` | `stripe` | `gateway` |\n|---|---|---|---|---|\n")
	for _, m := range specs.Defs["policyKeys"].Properties {
		fmt.Fprintf(b, "| `%s` | %s |", m.name, specs.means(t, m))
		for _, profile := range []string{"ietf", "stripe", "gateway"} {
			fmt.Fprintf(b, " `%s` |", policyDefault(t, profile, m.name))
		}
		b.WriteString("\n")
	}
}

func configTable(t *testing.T, b *strings.Builder, cfg described) {
	t.Helper()
	b.WriteString("\n## Keys of idemgen.yaml\n\n| key | means |\n|---|---|\n")
	for _, m := range cfg.Properties {
		fmt.Fprintf(b, "| `%s` | %s |\n", m.name, cfg.means(t, m))
		if m.name == "defaults" {
			continue // the policies, and the key's rule by method
		}
		for _, inner := range cfg.resolve(m.described).Properties {
			fmt.Fprintf(b, "| `%s.%s` | %s |\n", m.name, inner.name, cfg.means(t, inner))
		}
	}
}

// policyDefault is a policy's value in a profile, as it is written.
func policyDefault(t *testing.T, profile, key string) string {
	t.Helper()
	p := config.ProfilePolicy(profile)
	duration := func(d time.Duration) string {
		switch {
		case d >= time.Hour:
			return fmt.Sprintf("%dh", d/time.Hour)
		case d >= time.Minute:
			return fmt.Sprintf("%dm", d/time.Minute)
		}
		return fmt.Sprintf("%ds", d/time.Second)
	}
	switch key {
	case "success":
		return duration(*p.Success)
	case "client_error":
		return duration(*p.ClientError)
	case "server_error":
		return duration(*p.ServerError)
	case "timeout":
		return duration(*p.Timeout)
	case "inflight":
		if p.Inflight.Wait == 0 {
			return "reject"
		}
		return "wait:" + duration(p.Inflight.Wait)
	case "fingerprint":
		return p.Fingerprint.Mode
	case "isolation":
		return strings.ReplaceAll(*p.Isolation, " ", "_")
	case "max_body":
		return fmt.Sprintf("%dMiB", *p.MaxBody>>20)
	case "record":
		return *p.Record
	case "force_retry":
		return map[bool]string{true: "on", false: "off"}[*p.ForceRetry]
	}
	t.Errorf("no default of %s is known here", key)
	return ""
}
