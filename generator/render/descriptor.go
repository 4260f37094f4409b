package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

var strategies = map[plan.Strategy]string{
	plan.Direct:   "idem.Direct",
	plan.Fused:    "idem.Fused",
	plan.Verbatim: "idem.Verbatim",
	plan.Stepped:  "idem.Stepped",
}

// descriptor writes the idem.Operation literal.
func descriptor(svc *model.Service, op *plan.Operation, sqlVar string) (string, error) {
	m := op.Model
	w := newStepWriter(svc, op)
	strategy, ok := strategies[op.Strategy]
	if !ok {
		return "", fmt.Errorf("operation %s: unknown strategy %q", m.Name, op.Strategy)
	}
	key, err := w.key(m.Key)
	if err != nil {
		return "", err
	}
	steps, err := w.list()
	if err != nil {
		return "", err
	}
	answer, err := w.answer(svc)
	if err != nil {
		return "", err
	}
	return object("idem.Operation",
		member{"Name", exportedName(m)},
		member{"Method", text(httpMethod(m))},
		member{"Path", text(httpPath(m))},
		member{"Status", number(m.Status)},
		member{"Strategy", strategy},
		member{"Key", key},
		member{"Policy", policy(m)},
		member{"Fields", fields(svc, m)},
		member{"BodyWhole", boolean(m.BodyWhole)},
		member{"SQL", sqlVar},
		member{"Steps", steps},
		member{"Headers", headerNames(m.Headers)},
		member{"Answer", answer},
		member{"Async", boolean(m.Async)},
		member{"Webhook", webhook(m.Webhook)},
		member{"Consumer", consumer(m.Consumer)},
		member{"Tool", toolSpec(m)},
	), nil
}

// webhook writes the system and types of a receiver, "" where clients call.
func webhook(w *model.Webhook) string {
	if w == nil {
		return ""
	}
	return object("idem.Webhook", member{"System", text(w.System)}, member{"Types", list("string", texts(w.Types))})
}

// headerNames are the declared response headers, each once.
func headerNames(headers []model.Header) string {
	names := make([]string, len(headers))
	for i, h := range headers {
		names[i] = h.Name
	}
	slices.Sort(names)
	return list("string", texts(slices.Compact(names)))
}

var keyFroms = map[string]string{
	"header": "idem.KeyHeader",
	"intent": "idem.KeyIntent",
	"source": "idem.KeySource",

	"delivery": "idem.KeyDelivery",
	"message":  "idem.KeyMessage",
}

// key writes where the key comes from, "" where there is none.
func (w argWriter) key(k model.Key) (string, error) {
	if !k.Protects() {
		return "", nil
	}
	from, ok := keyFroms[k.From]
	if !ok {
		return "", fmt.Errorf("operation %s: unknown origin %q of the key", w.op.Name, k.From)
	}
	var arg string
	if k.From == "source" {
		var t model.Type
		if k.Source.Input != nil {
			t = k.Source.Input.Type
		}
		lit, err := w.source(k.Source, t)
		if err != nil {
			return "", err
		}
		arg = "idem.Arg" + lit
	}
	return object("idem.Key",
		member{"From", from},
		member{"Required", boolean(k.Required)},
		member{"Arg", arg},
		member{"Prefix", parts(k.Prefix)},
	), nil
}

func parts(ps []model.Part) string {
	items := make([]string, len(ps))
	for i, p := range ps {
		items[i] = object("", member{"Text", text(p.Text)}, member{"Name", text(p.Name)})
	}
	return list("idem.Part", items)
}

var isolations = map[string]string{
	"repeatable read": "idem.RepeatableRead",
	"serializable":    "idem.Serializable",
}

func policy(m *model.Operation) string {
	p := m.Policy
	return object("idem.Policy",
		member{"Success", duration(p.Success)},
		member{"ClientError", duration(p.ClientError)},
		member{"ServerError", duration(p.ServerError)},
		member{"Wait", duration(p.Wait)},
		member{"Timeout", duration(p.Timeout)},
		member{"MaxBody", size(p.MaxBody)},
		member{"Print", printed(p)},
		member{"Isolation", isolations[strings.ToLower(p.Isolation)]},
		member{"Tombstone", boolean(!p.RecordBody)},
		member{"Sealed", boolean(p.Sealed)},
		member{"Force", boolean(p.ForceRetry)},
	)
}

// printed are the inputs of the fingerprint: "" for all of them.
func printed(p model.Policy) string {
	switch {
	case p.NoPrint:
		return "[]string{}"
	case p.Fingerprint == nil:
		return ""
	case len(p.Fingerprint) == 0:
		return "[]string{}"
	}
	return list("string", texts(p.Fingerprint))
}

// exportedName is the Go name of an operation, which may start in lower case.
func exportedName(op *model.Operation) string { return goName(op.Name) }

// consumer writes the topic and types of a consumer, "" where no messages come.
func consumer(c *model.Consumer) string {
	if c == nil {
		return ""
	}
	return object("idem.Consumer", member{"Topic", text(c.Topic)}, member{"Types", list("string", texts(c.Types))})
}
