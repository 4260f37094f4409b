package openapi

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// used are the components that operations refer to.
type used struct {
	requiredKey, optionalKey, force bool
	problems, other                 bool
	answers                         map[*contract.Operation]*yaml.Node
	examples, responses             []entry
	shared                          map[string]string // names of responses, by what they hold
}

// example keeps an example that several responses show.
func (u *used) example(name string, value *yaml.Node) {
	if !slices.ContainsFunc(u.examples, func(e entry) bool { return e.name == name }) {
		u.examples = append(u.examples, entry{name, value})
	}
}

// response keeps a response that several operations have, and refers to it. Key
// says what it holds; base is its name, or the beginning of it.
func (u *used) response(base, key string, render func() *yaml.Node) *yaml.Node {
	if u.shared == nil {
		u.shared = map[string]string{}
	}
	name, ok := u.shared[key]
	if !ok {
		name = base
		for i := 2; slices.ContainsFunc(u.responses, func(e entry) bool { return e.name == name }); i++ {
			name = base + strconv.Itoa(i)
		}
		u.shared[key] = name
		u.responses = append(u.responses, entry{name, render()})
	}
	return ref("responses", name)
}

// The parameters of the components.
const (
	paramKey         = "IdempotencyKey"
	paramOptionalKey = "OptionalIdempotencyKey"
	paramForce       = "ForceRetry"
)

func (d *document) components() *yaml.Node {
	var scheme *yaml.Node
	if d.opts.Security == schemeBearer {
		scheme = object(entry{schemeBearer, object(entry{"type", text("http")}, entry{"scheme", text("bearer")})})
	}
	schemas := d.schemas.entries
	if d.used.problems {
		schemas = append(schemas, d.problemSchemas()...)
	}
	responses := d.used.responses
	if d.used.other {
		responses = append(responses, entry{responseOther, d.other()})
	}
	return object(
		entry{"schemas", object(schemas...)},
		entry{"responses", object(responses...)},
		entry{"parameters", d.parameterComponents()},
		entry{"examples", object(d.used.examples...)},
		entry{"headers", d.headerComponents()},
		entry{"securitySchemes", scheme},
	)
}

func (d *document) parameterComponents() *yaml.Node {
	var required, optional, force *yaml.Node
	if d.used.requiredKey {
		required = d.keyComponent(true)
	}
	if d.used.optionalKey {
		optional = d.keyComponent(false)
	}
	if d.used.force {
		force = object(
			entry{"name", text(headerForce)},
			entry{"in", text("header")},
			entry{"description", text("`true` runs the operation again under a key that has a record. Another payload is refused all the same.")},
			entry{"schema", object(entry{"type", text("boolean")})},
		)
	}
	return object(entry{paramKey, required}, entry{paramOptionalKey, optional}, entry{paramForce, force})
}

func (d *document) keyComponent(required bool) *yaml.Node {
	said := "Names the request: sent again with the same key and the same payload, it has one effect, and is answered as before. " + d.keyRule()
	if !required {
		said += " Without it the request runs unprotected."
	}
	return object(
		entry{"name", text(d.keyHeader())},
		entry{"in", text("header")},
		entry{"required", trueOnly(required)},
		entry{"description", text(said)},
		entry{"schema", object(entry{"type", text("string")}, entry{"pattern", text(d.keyPattern())})},
		entry{"example", text("8e03978e-40d5-43e8-bc93-6894a57f9324")},
	)
}

func (d *document) keyRule() string {
	if d.gateway() {
		return "3 to 128 characters of A-Z, a-z, 0-9, dot, underscore and hyphen."
	}
	return "1 to 255 visible ASCII characters; comma, semicolon, quote and backslash only in the quoted form."
}

// keyPattern is the rule of keys: bare, or as a structured-field string.
func (d *document) keyPattern() string {
	least := "1"
	if d.svc.ScopeSource.Kind == model.SourceNone {
		least = "22" // without a caller, a key must not be guessed
	}
	if d.gateway() {
		if least == "1" {
			least = "3"
		}
		return "^[A-Za-z0-9._-]{" + least + ",128}$"
	}
	return `^([!#-+\--:<-\[\]-~]{` + least + `,255}|"([!#-\[\]-~]|\\["\\]){` + least + `,255}")$`
}

func (d *document) headerComponents() *yaml.Node {
	header := func(typ, said string) *yaml.Node {
		return object(entry{"description", text(said)}, entry{"schema", object(entry{"type", text(typ)})})
	}
	key := header("string", "The key of the request.")
	shouldRetry, after := header("boolean", "Whether the same request may be answered otherwise."), header("integer", "Seconds to wait before the next try.")
	if d.gateway() {
		return object(
			entry{gatewayKeyHeader, key},
			entry{gatewayStatus, object(
				entry{"description", text("What was made of the key.")},
				entry{"schema", object(entry{"type", text("string")}, entry{"enum", texts([]string{"new", "processing", "duplicate"})})},
			)},
			entry{headerShouldRetry, shouldRetry},
			entry{headerRetryAfter, after},
		)
	}
	return object(
		entry{keyHeader, key},
		entry{replayedHeader, header("boolean", "true: the answer was recorded earlier, and nothing was done now.")},
		entry{headerShouldRetry, shouldRetry},
		entry{headerRetryAfter, after},
	)
}
