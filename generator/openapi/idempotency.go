package openapi

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// idempotency is what the standard has no words for: where the key comes from,
// whose it is, how long outcomes are kept, what must be equal, what a twin
// meets, and which codes are worth another try. Nil where nothing is claimed.
func (d *document) idempotency(m *model.Operation) *yaml.Node {
	if !m.Key.Protects() {
		return nil
	}
	return object(
		entry{"key", d.keySource(m)},
		entry{"scope", text(scopeOf(d.svc))},
		entry{"retention", object(
			entry{"success", text(short(m.Policy.Success))},
			entry{"client_error", text(short(max(m.Policy.ClientError, 2*m.Policy.Timeout)))},
			entry{"server_error", text(short(m.Policy.ServerError))},
		)},
		entry{"fingerprint", fingerprint(d.svc, m)},
		entry{"in_flight", d.inFlight(m)},
		entry{"async", trueOnly(m.Async)},
		entry{"record", text(recordOf(m.Policy))},
		entry{"intents", list(intents(m))},
		entry{"retryable", texts(retryable(d.gateway()))},
	)
}

func (d *document) keySource(m *model.Operation) *yaml.Node {
	k := m.Key
	var header, required, from *yaml.Node
	source := k.From
	switch k.From {
	case "header":
		header, required = text(d.keyHeader()), boolean(k.Required)
	case "source":
		source = "input"
		from = text(sourceName(k.Source))
	}
	return object(
		entry{"source", text(source)},
		entry{"header", header},
		entry{"required", required},
		entry{"input", from},
		entry{"prefix", optional(prefixOf(k.Prefix))},
	)
}

func prefixOf(parts []model.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Name != "" {
			b.WriteString("{" + p.Name + "}")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func sourceName(s model.Source) string {
	if s.Input != nil {
		return inputName(s.Input)
	}
	return string(s.Kind)
}

func inputName(in *model.Input) string {
	if in.Name == "" {
		return string(in.From)
	}
	return string(in.From) + "." + in.Name
}

func scopeOf(svc *model.Service) string {
	if svc.ScopeSource.Input == nil {
		return "none"
	}
	return inputName(svc.ScopeSource.Input)
}

// fingerprint names the inputs that must be equal; the scope is part of the
// key's identity anyway.
func fingerprint(svc *model.Service, m *model.Operation) *yaml.Node {
	var names []string
	for _, in := range m.Inputs {
		counts := m.Policy.Fingerprint == nil || slices.Contains(m.Policy.Fingerprint, in.Name)
		if name := inputName(in); counts && !m.Policy.NoPrint && name != scopeOf(svc) {
			names = append(names, name)
		}
	}
	if names == nil {
		return emptyList()
	}
	return list(textNodes(names))
}

func textNodes(values []string) []*yaml.Node {
	out := make([]*yaml.Node, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}

func (d *document) inFlight(m *model.Operation) *yaml.Node {
	behaviour, wait := "reject", ""
	if m.Policy.Wait > 0 {
		behaviour, wait = "wait", short(m.Policy.Wait)
	}
	then := "409 in-flight"
	if d.gateway() {
		then = "200 " + gatewayStatus + ": processing"
	}
	return object(entry{"behaviour", text(behaviour)}, entry{"wait", optional(wait)}, entry{"then", text(then)})
}

func recordOf(p model.Policy) string {
	switch {
	case !p.RecordBody:
		return "none"
	case p.Sealed:
		return "sealed"
	}
	return "full"
}

// intents are the business intents: at most one row each, whatever the key.
func intents(m *model.Operation) []*yaml.Node {
	var out []*yaml.Node
	for _, step := range m.Steps {
		if step.Intent == nil {
			continue
		}
		on := step.OnIntent
		if on == "" {
			on = "conflict"
		}
		out = append(out, object(entry{"columns", texts(step.Intent.Columns)}, entry{"then", text(on)}))
	}
	return out
}

func retryable(gateway bool) []string {
	var out []string
	for _, p := range contract.RuntimeProblems() {
		if p.Retryable && (!gateway || p.Code != "in-flight") {
			out = append(out, p.Code)
		}
	}
	return out
}

// short writes a duration without parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
