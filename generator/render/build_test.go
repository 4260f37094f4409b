package render

import (
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// What the tests build models from, by hand: short names for common parts.

const (
	testModule = "github.com/idemgen/idemgen/generator/render/testdata"
	dbImport   = testModule + "/db"
)

func typ(kind model.Kind, expr string, imports ...string) model.Type {
	return model.Type{Kind: kind, GoType: model.GoType{Expr: expr, Imports: imports}}
}

var (
	textType   = typ(model.KindText, "string")
	bigint     = typ(model.KindInt8, "int64")
	integer    = typ(model.KindInt4, "int32")
	boolType   = typ(model.KindBool, "bool")
	timestamp  = typ(model.KindTimestamptz, "pgtype.Timestamptz", pgtypePath)
	uuid       = typ(model.KindUUID, "pgtype.UUID", pgtypePath)
	numeric    = typ(model.KindNumeric, "pgtype.Numeric", pgtypePath)
	statusEnum = enum(typ(model.KindText, "db.PaymentStatus", dbImport), "authorized", "captured")
	nullText   = nullable(typ(model.KindText, "pgtype.Text", pgtypePath))
)

func nullable(t model.Type) model.Type { t.Nullable = true; return t }

func enum(t model.Type, labels ...string) model.Type { t.Enum = labels; return t }

func checked(t model.Type, checks ...model.Check) model.Type { t.Checks = checks; return t }

func array(t model.Type) model.Type {
	t.Array = true
	t.GoType.Expr = "[]" + t.GoType.Expr
	return t
}

func input(from model.InputFrom, name string, t model.Type) *model.Input {
	return &model.Input{From: from, Name: name, GoName: goName(name), Type: t, Required: !t.Nullable, Nullable: t.Nullable}
}

func body(name string, t model.Type) *model.Input { return input(model.FromBody, name, t) }

var tenant = input(model.FromCaller, "tenant_id", textType)

func column(name string, t model.Type) model.Column {
	return model.Column{Name: name, GoName: goName(name), Type: t}
}

func from(in *model.Input) model.Source { return model.Source{Kind: model.SourceInput, Input: in} }

func arg(in *model.Input) plan.Arg { return plan.Arg{Source: from(in), Type: in.Type} }

func args(inputs ...*model.Input) []plan.Arg {
	out := make([]plan.Arg, len(inputs))
	for i, in := range inputs {
		out[i] = arg(in)
	}
	return out
}

func runtimeValues(extra ...plan.RuntimeArg) []plan.Arg {
	names := append([]plan.RuntimeArg{plan.ArgScope, plan.ArgDigest, plan.ArgKey, plan.ArgFingerprint}, extra...)
	out := make([]plan.Arg, len(names))
	for i, n := range names {
		out[i] = plan.Arg{Runtime: n}
	}
	return out
}

var defaultPolicy = model.Policy{
	Success: 24 * time.Hour, ClientError: 2 * time.Hour, Wait: 2 * time.Second,
	Timeout: 30 * time.Second, MaxBody: 1 << 20, Isolation: "read committed", RecordBody: true,
}

var (
	headerKey   = model.Key{From: "header", Required: true}
	optionalKey = model.Key{From: "header"}
	noKey       = model.Key{From: "none"}
)

// operation is an operation of one step, named after it, with that answer.
func operation(name, file, method, path string, status int, key model.Key, step *model.Step, inputs ...*model.Input) *model.Operation {
	step.Name = name
	response := model.Response{Kind: model.ResponseStep, Step: name}
	if len(step.Query.Columns) == 0 {
		response = model.Response{Kind: model.ResponseNone}
	}
	return &model.Operation{
		Name: name, FileBase: file, Method: method, Path: path, Status: status, Key: key,
		Policy: defaultPolicy, Inputs: inputs, Steps: []*model.Step{step}, Response: response,
	}
}

func service(ops ...*model.Operation) *model.Service {
	return &model.Service{
		Name: "payments", Package: "api", ModulePath: testModule, Profile: "ietf",
		ScopeSource: from(tenant),
		Caller:      []model.CallerField{{Name: "tenant_id", GoName: "TenantID", Type: textType}},
		JSON:        model.JSONStyle{Case: "snake", Many: "items"},
		Operations:  ops,
	}
}
