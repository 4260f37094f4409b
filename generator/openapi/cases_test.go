package openapi

import (
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// What the tests build services from, by hand.

func kind(k model.Kind) model.Type { return model.Type{Kind: k} }

func nullable(t model.Type) model.Type { t.Nullable = true; return t }

func array(t model.Type) model.Type { t.Array = true; return t }

func checked(t model.Type, checks ...model.Check) model.Type { t.Checks = checks; return t }

func in(from model.InputFrom, name string, t model.Type) *model.Input {
	return &model.Input{From: from, Name: name, GoName: name, Type: t, Required: !t.Nullable, Nullable: t.Nullable}
}

func body(name string, t model.Type) *model.Input { return in(model.FromBody, name, t) }

func withDefault(i *model.Input, text string) *model.Input {
	i.Default, i.Required = &text, false
	return i
}

func column(name string, t model.Type) model.Column { return model.Column{Name: name, Type: t} }

var tenant = in(model.FromCaller, "tenant_id", kind(model.KindText))

var policy = model.Policy{
	Success: 24 * time.Hour, ClientError: 2 * time.Hour, Wait: 2 * time.Second, Timeout: 30 * time.Second, RecordBody: true,
}

// stored are the traits of a statement that inserts one row.
func stored(columns ...model.Column) *model.Step {
	return &model.Step{Query: &model.Query{Command: "one", Columns: columns, Shape: model.Shape{
		Kind: model.Insert, SingleValues: true, Writes: []model.TableName{{Name: "t"}},
	}}}
}

func operation(name, method, path string, status int, key model.Key, step *model.Step, inputs ...*model.Input) *plan.Operation {
	step.Name = name
	op := &model.Operation{
		Name: name, Method: method, Path: path, Status: status, Key: key, Policy: policy, Inputs: inputs,
		Steps: []*model.Step{step}, Response: model.Response{Kind: model.ResponseStep, Step: name},
	}
	if len(step.Query.Columns) == 0 {
		op.Response = model.Response{Kind: model.ResponseNone}
	}
	return &plan.Operation{Model: op, Strategy: plan.Fused}
}

var headerKey, optionalKey = model.Key{From: "header", Required: true}, model.Key{From: "header"}

// service has one caller, whose tenant the keys belong to.
func service(profile string) *model.Service {
	return &model.Service{
		Name: "things", Profile: profile, JSON: model.JSONStyle{Many: "items"},
		ScopeSource: model.Source{Kind: model.SourceInput, Input: tenant},
		Caller:      []model.CallerField{{Name: "tenant_id", Type: kind(model.KindText)}},
	}
}

var everyKind = []model.Kind{
	model.KindBool, model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat4, model.KindFloat8,
	model.KindText, model.KindUUID, model.KindTimestamptz, model.KindTimestamp, model.KindDate, model.KindTime, model.KindInterval,
	model.KindBytea, model.KindJSON,
}

// everyType takes and gives a value of each kind, each also null and as a list.
func everyType() *plan.Operation {
	var inputs []*model.Input
	var columns []model.Column
	for _, k := range everyKind {
		for name, t := range map[string]model.Type{"": kind(k), "_null": nullable(kind(k)), "_list": array(kind(k))} {
			inputs = append(inputs, body(string(k)+name, t))
			columns = append(columns, column(string(k)+name, t))
		}
	}
	byName(inputs, columns)
	return operation("EveryType", "POST", "/types", 201, headerKey, stored(columns...), inputs...)
}

// everyRule takes values with each rule.
func everyRule() *plan.Operation {
	rule := func(op model.CheckOp, value string) model.Check { return model.Check{Op: op, Value: value} }
	label := kind(model.KindText)
	label.Enum, label.Length = []string{"open", "it's: closed"}, 20
	return operation("EveryRule", "POST", "/rules/{id}", 201, headerKey, stored(column("label", label)),
		body("bounds", checked(kind(model.KindInt4), rule(model.CheckMin, "1"), rule(model.CheckExclusiveMax, "10.5"))),
		body("price", checked(kind(model.KindNumeric), rule(model.CheckExclusiveMin, "0"), rule(model.CheckMax, "99.5"))),
		body("rounded", checked(kind(model.KindNumeric), model.Check{Op: model.CheckMin, Value: "0.01", Rounded: true, Scale: 2})),
		body("since", checked(kind(model.KindDate), rule(model.CheckMin, "2020-01-01"))),
		body("name", checked(nullable(label), rule(model.CheckMinLength, "2"), rule(model.CheckMaxLength, "8"))),
		body("unit", checked(kind(model.KindText), model.Check{Op: model.CheckIn, Values: []string{"kg", "true", "1"}})),
		body("size", checked(kind(model.KindInt4), model.Check{Op: model.CheckIn, Values: []string{"1", "2"}}, rule(model.CheckNotEqual, "3"))),
		body("code", checked(kind(model.KindText), rule(model.CheckPattern, `^[A-Z]{3}\-\d*$`), rule(model.CheckNotEqual, "XXX"))),
		body("dots", checked(kind(model.KindText), rule(model.CheckPattern, `(?s)^a.[.]$`))),
		body("odd", checked(kind(model.KindText), rule(model.CheckPattern, `(?i)^[]a]$`))),
		withDefault(body("color", kind(model.KindText)), "red"),
		withDefault(body("count", kind(model.KindInt4)), "3"),
		withDefault(body("big", kind(model.KindInt8)), "9007199254740993"),
		body("owner.name", kind(model.KindText)),
		body("contact.phone", nullable(kind(model.KindText))),
		body("lines", model.Type{Kind: model.KindRecord, List: true, Members: []model.Member{
			{Name: "sku", Type: kind(model.KindText), Required: true}, {Name: "note", Type: nullable(kind(model.KindText))},
		}}),
		in(model.FromPath, "id", kind(model.KindInt8)),
		in(model.FromQuery, "tag", array(kind(model.KindText))),
		in(model.FromQuery, "filter", nullable(kind(model.KindJSON))),
		in(model.FromHeader, "X-Source", kind(model.KindText)),
		tenant,
	)
}

// declares has words of its own: a guard, a status, an intent that shows its
// row, a header, an answer that may be null.
func declares() *plan.Operation {
	secret, ok := column("secret", kind(model.KindText)), column("ok", kind(model.KindBool))
	step := stored(column("id", kind(model.KindInt8)), column("owner.name", kind(model.KindText)), secret, ok)
	step.Omit = []string{"secret"}
	step.Requires = []model.Require{{Column: "ok", Problem: model.Problem{Status: 402, Code: "no_funds", Title: "not \"enough\""}}}
	step.Errors = []model.ErrorRule{{Constraint: "t_check", Problem: model.Problem{Status: 422, Code: "too_odd"}}}
	step.Intent, step.OnIntent = &model.Intent{Columns: []string{"tenant_id", "name"}, Index: "t_name_key", ScopeIn: true}, "return"
	step.Statuses = []model.StatusRule{{Column: "ok", Status: 200}, {Column: "ok", Status: 402}}
	op := operation("Declares", "PUT", "/things/{name}", 201, optionalKey, step, in(model.FromPath, "name", kind(model.KindText)), body("size", nullable(kind(model.KindInt4))), tenant)
	op.Model.Summary, op.Model.Description = "Make a thing.", "Make a thing.\n\nTwice is once: \"thing\", # 1."
	op.Model.Tags = []string{"things", "a: b"}
	op.Model.Headers = []model.Header{{Name: "location"}, {Name: "X-Version"}}
	op.Model.Policy.Fingerprint, op.Model.Policy.Sealed = []string{"size"}, true
	op.Statements = []plan.Statement{{Name: "existing"}}
	return op
}

// reads answers with a row or null at the same path; its parameter has another
// name there.
func reads() *plan.Operation {
	step := &model.Step{
		Query: &model.Query{Command: "one", Columns: []model.Column{column("id", kind(model.KindInt8))}, Shape: model.Shape{Kind: model.Select}},
		Empty: model.Empty{Fine: true, Status: 200},
	}
	op := operation("Reads", "GET", "/things/{key}", 200, model.Key{From: "none"}, step, in(model.FromPath, "key", kind(model.KindText)), tenant)
	op.Strategy, op.MayBeEmpty = plan.Direct, true
	return op
}

// deletes answers nothing.
func deletes() *plan.Operation {
	step := &model.Step{
		Query: &model.Query{Command: "exec", Shape: model.Shape{Kind: model.Delete, Writes: []model.TableName{{Name: "t"}}}},
		Empty: model.Empty{Status: 404, Problem: model.Problem{Status: 404, Code: "not_found", Title: "Not found"}},
	}
	op := operation("Deletes", "DELETE", "/things/{key}", 204, model.Key{From: "intent", Prefix: []model.Part{{Text: "del-"}, {Name: "key"}}}, step,
		in(model.FromPath, "key", kind(model.KindText)), tenant)
	op.MayBeEmpty = true
	op.Model.Policy.Wait, op.Model.Policy.RecordBody, op.Model.Policy.NoPrint = 0, false, true
	return op
}

// stores takes the body as it is.
func stores() *plan.Operation {
	whole := in(model.FromBody, "", kind(model.KindBytea))
	op := operation("Stores", "POST", "/blobs", 201, model.Key{From: "source", Source: model.Source{Kind: model.SourceInput, Input: tenant}},
		stored(column("id", kind(model.KindInt8))), whole, tenant)
	op.Model.BodyWhole = true
	return op
}

// later is async, with a parameter in its path and a constraint that the input is
// held to at once.
func later() *plan.Operation {
	step := stored(column("id", kind(model.KindInt8)))
	step.Errors = []model.ErrorRule{
		{Constraint: "t_size_check", Problem: model.Problem{Status: 422, Code: "too_small"}},
		{Constraint: "t_room_check", Problem: model.Problem{Status: 409, Code: "no_room"}},
	}
	size := checked(kind(model.KindInt4), model.Check{Op: model.CheckMin, Value: "1", Name: "t_size_check"})
	op := operation("Later", "POST", "/things/{name}/later", 201, headerKey, step, in(model.FromPath, "name", kind(model.KindText)), body("size", size), tenant)
	op.Strategy, op.Model.Async, op.Model.Tags = plan.Stepped, true, []string{"things"}
	return op
}

// calls has a call to another system.
func calls() *plan.Operation {
	call := &model.Step{Name: "Ask", Query: &model.Query{Command: "exec"}, Go: &model.GoStep{Func: "Ask", Call: &model.Call{}}}
	op := operation("Calls", "POST", "/calls", 201, headerKey, stored(column("id", kind(model.KindInt8))), body("n", kind(model.KindInt8)), tenant)
	op.Strategy, op.Model.Steps = plan.Stepped, append(op.Model.Steps, call)
	return op
}

func forced() *plan.Operation {
	op := operation("Forced", "POST", "/forced", 201, headerKey, stored(column("id", kind(model.KindInt8))), body("n", kind(model.KindInt8)))
	op.Model.Policy.ForceRetry = true
	return op
}

func ordered() *plan.Operation {
	query := &model.Query{Command: "many", Columns: []model.Column{column("id", kind(model.KindInt8)), column("at", kind(model.KindTimestamptz))}, Shape: model.Shape{Kind: model.Select}}
	op := operation("Ordered", "GET", "/things", 200, model.Key{From: "none"}, &model.Step{Query: query, Empty: model.Empty{Fine: true, Status: 200}},
		withDefault(in(model.FromQuery, "after", kind(model.KindInt8)), "0"), tenant)
	op.Strategy = plan.Direct
	return op
}
