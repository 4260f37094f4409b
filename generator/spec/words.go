package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// word is one annotation of the language, which is a key of specs too.
type word struct {
	name      string
	form      string // of its arguments
	example   string // of its value as a key of YAML
	operation bool   // says how the outside reaches the operation; else it travels with the statement
	once      bool
	notYet    bool
	raw       bool // the arguments are one text that is not cut into fields
	// parse reads the arguments of a whole word; nil for words that begin with
	// a name, which have named.
	parse func(a *args, d *Declarations)
	named func(a *args, name Name, d *Declarations)
	// nameOK says whether the first argument of a named word can be one.
	nameOK   func(string) bool
	nameWhat string
}

const problemArgs = `STATUS [code] ["title"]`

// words lists the language of version 1; see docs for their meaning.
func words() []word {
	return []word{
		{name: "bind", form: "PARAM SOURCE [default=V] [min=V] [max=V]", example: "{from_id: body.from_account}", named: parseBind, nameOK: isIdent, nameWhat: "a parameter"},
		{name: "intent", form: "CONSTRAINT, or TABLE (COLUMNS) [where CONDITION] [conflict|return]", example: "payments (tenant_id, order_id)", once: true, parse: parseIntent},
		{name: "require", form: "COLUMN " + problemArgs, example: "enough 402 insufficient_funds", named: parseRequire, nameOK: isDotted, nameWhat: "a column"},
		{name: "status", form: "COLUMN STATUS", example: "created 201", named: parseStatus, nameOK: isDotted, nameWhat: "a column"},
		{name: "empty", form: "STATUS, or " + problemArgs, example: "404 no_such_payment", once: true, parse: parseEmpty},
		{name: "error", form: "CONSTRAINT " + problemArgs, example: "payments_amount_check 422 amount_not_positive", named: parseError, nameOK: isConstraint, nameWhat: "a constraint or SQLSTATE"},
		{name: "omit", form: "COLUMN, …", example: "[secret]", parse: parseOmit},
		{name: "outbox", form: "TOPIC [key=COLUMN] [if=COLUMN] [columns=a,b]", example: "payment.created key=order_id", named: parseOutbox, nameOK: isTopic, nameWhat: "a topic"},
		{name: "http", form: "METHOD /path/{name} [STATUS]", example: "POST /v1/transfers 201", operation: true, once: true, parse: parseHTTP},
		{name: "webhook", form: "SYSTEM [TYPE …]", example: "stripe payment_intent.succeeded", operation: true, once: true, parse: parseWebhook},
		{name: "consume", form: "TOPIC [TYPE …]", example: "order.created", operation: true, once: true, parse: parseConsume},
		{name: "tool", form: `NAME ["description"]`, example: `issue_invoice "Issue an invoice for an order."`, operation: true, once: true, parse: parseTool},
		{name: "operation", form: "NAME", example: "CreateTransfer", operation: true, once: true, parse: parseOperation},
		{name: "tag", form: "NAME, …", example: "[transfers]", operation: true, parse: parseTag},
		{name: "key", form: `SOURCE [prefix="…"], or header [required|optional], or intent, or none`, example: "header optional", operation: true, once: true, parse: parseKey},
		{name: "header", form: `NAME "template with {column}"`, example: `Location "/v1/transfers/{id}"`, operation: true, named: parseHeader, nameOK: isToken, nameWhat: "a header name"},
		{name: "async", form: "true or false", example: "true", operation: true, once: true, parse: parseAsync},
		{name: "policy", form: "KEY=VALUE …", example: "{timeout: 30s}", operation: true, once: true, parse: parsePolicy},
		{name: "example", form: "JSON", operation: true, once: true, raw: true, parse: parseExample},
	}
}

// aliases are words of other tools and other guesses, and ours for them.
var aliases = map[string]string{
	"unique": "intent", "once": "intent", "on_conflict": "intent", "constraint": "intent",
	"router": "http", "route": "http", "get": "http", "post": "http", "put": "http", "patch": "http", "delete": "http", "endpoint": "http", "rest": "http", "path": "http",
	"norows": "empty", "no_rows": "empty", "notfound": "empty", "not_found": "empty", "missing": "empty",
	"idempotent": "key", "idempotency": "key", "idempotency_key": "key", "idempotencykey": "key",
	"failure": "error", "violation": "error", "success": "status", "check": "require", "guard": "require", "assert": "require",
	"tags": "tag", "headers": "header", "errors": "error", "hide": "omit", "exclude": "omit", "source": "bind", "arg": "bind", "from": "bind",
	"id": "operation", "operationid": "operation", "ttl": "policy", "timeout": "policy", "event": "outbox", "publish": "outbox", "subscribe": "consume",
	"agent": "tool", "mcp": "tool", "function": "tool",
	"background": "async", "queue": "async", "later": "async",
}

// foreign words belong to sqlc.
var foreign = []string{"param", "sqlc-vet-disable"}

func lookup(name string) (word, bool) {
	all := words()
	i := slices.IndexFunc(all, func(w word) bool { return w.name == name })
	if i < 0 {
		return word{}, false
	}
	return all[i], true
}

func formOf(name string) string {
	w, _ := lookup(name)
	return w.form
}

func wordNames() []string {
	all := words()
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.name
	}
	return names
}

// nearestWord returns the word that an unknown one was meant to be, or "".
func nearestWord(name string) string {
	lower := strings.ToLower(name)
	if _, ok := lookup(lower); ok {
		return lower
	}
	if w, ok := aliases[strings.ReplaceAll(lower, "-", "_")]; ok {
		return w
	}
	return diag.Nearest(name, wordNames())
}

// read parses the text behind w, wherever it stands, into d.
func (w word) read(in where, at diag.Pos, text yamltree.Scalar, d *Declarations, diags *diag.List) {
	if w.raw {
		w.run(&args{word: w.name, where: in, text: text, wordAt: at, diags: diags}, d)
		return
	}
	if a, ok := newArgs(w.name, in, at, text, diags); ok {
		w.run(a, d)
	}
}

// run parses the arguments of w into d.
func (w word) run(a *args, d *Declarations) {
	if w.parse != nil {
		w.parse(a, d)
		return
	}
	f, ok := a.need(w.nameWhat)
	if !ok {
		return
	}
	w.runNamed(a, a.named(f), d)
}

// runNamed parses what follows a name, which YAML may write as a key.
func (w word) runNamed(a *args, name Name, d *Declarations) {
	if !w.nameOK(name.Value) {
		a.fail(diag.AnnotationForm, name.Pos, "%s needs %s, %q is none", a.name(), w.nameWhat, name.Value)
		return
	}
	w.named(a, name, d)
}

// repeated reports a name that a word had already.
func (a *args) repeated(name Name, first diag.Pos) {
	a.failed = true
	a.diags.Errorf(diag.RepeatedWord, name.Pos, "%s for %s stands twice", a.name(), name.Value).
		Hint("it stands first in line %d; keep one of the two", first.Line)
}
