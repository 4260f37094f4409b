package render

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

var fieldFroms = map[model.InputFrom]string{
	model.FromPath:   "idem.FromPath",
	model.FromQuery:  "idem.FromQuery",
	model.FromHeader: "idem.FromHeader",
	model.FromBody:   "idem.FromBody",
	model.FromCaller: "idem.FromCaller",
}

var checkOps = map[model.CheckOp]string{
	model.CheckMin:          "idem.CheckMin",
	model.CheckMax:          "idem.CheckMax",
	model.CheckExclusiveMin: "idem.CheckExclusiveMin",
	model.CheckExclusiveMax: "idem.CheckExclusiveMax",
	model.CheckMinLength:    "idem.CheckMinLength",
	model.CheckMaxLength:    "idem.CheckMaxLength",
	model.CheckIn:           "idem.CheckIn",
	model.CheckNotEqual:     "idem.CheckNotEqual",
	model.CheckPattern:      "idem.CheckPattern",
}

// fields writes the idem.Field list of an operation.
func fields(svc *model.Service, op *model.Operation) string {
	items := make([]string, len(op.Inputs))
	declared := declaredProblems(op)
	for i, in := range op.Inputs {
		f := fieldLiteral{
			declared: declared,
			from:     in.From, name: in.Name, typ: in.Type,
			required: in.Required, nullable: in.Nullable, def: in.Default,
			scope: in.From == model.FromCaller && in.Name == scopeField(svc),
		}
		items[i] = f.String()
	}
	return list("idem.Field", items)
}

// callerFields writes the fields of the emitted Caller.
func callerFields(svc *model.Service) string {
	items := make([]string, len(svc.Caller))
	for i, c := range svc.Caller {
		f := fieldLiteral{
			from: model.FromCaller, name: c.Name, typ: c.Type,
			required: !c.Type.Nullable, nullable: c.Type.Nullable,
			scope: c.Name == scopeField(svc),
		}
		items[i] = f.String()
	}
	return list("idem.Field", items)
}

// scopeField is the caller's field that keys belong to, "" for `scope: none`.
func scopeField(svc *model.Service) string {
	if svc.ScopeSource.Input == nil {
		return ""
	}
	return svc.ScopeSource.Input.Name
}

type fieldLiteral struct {
	from               model.InputFrom
	name               string
	typ                model.Type
	required, nullable bool
	def                *string
	scope              bool
	declared           map[string]model.Problem // by constraint
}

// declaredProblems are the answers that @error gives to constraints: a check
// made of one is answered alike, whether it is met before or in the database.
func declaredProblems(op *model.Operation) map[string]model.Problem {
	out := map[string]model.Problem{}
	for _, s := range op.Steps {
		for _, rule := range s.Errors {
			if rule.Declared && rule.Constraint != "" {
				out[rule.Constraint] = rule.Problem
			}
		}
	}
	return out
}

func (f fieldLiteral) String() string {
	t := f.typ
	return object("",
		member{"From", fieldFroms[f.from]},
		member{"Name", text(f.name)},
		member{"Kind", kindName(t.Kind)},
		member{"Array", boolean(t.Array)},
		member{"NoNulls", boolean(t.NoNulls)},
		member{"Required", boolean(f.required)},
		member{"Nullable", boolean(f.nullable)},
		member{"Default", defaultText(f.def)},
		member{"Length", number(t.Length)},
		member{"Enum", list("string", texts(t.Enum))},
		member{"Checks", checks(t.Checks, f.declared)},
		member{"Elem", elements(t.Members, f.declared)},
		member{"List", boolean(t.List)},
		member{"Scope", boolean(f.scope)},
	)
}

func defaultText(def *string) string {
	if def == nil {
		return ""
	}
	return fmt.Sprintf("defaultText(%q)", *def)
}

// elements writes the members of a record; they come from the body with it.
func elements(members []model.Member, declared map[string]model.Problem) string {
	items := make([]string, len(members))
	for i, m := range members {
		f := fieldLiteral{
			declared: declared,
			from:     model.FromBody, name: m.Name, typ: m.Type,
			required: m.Required, nullable: m.Type.Nullable,
		}
		items[i] = f.String()
	}
	return list("idem.Field", items)
}

func checks(rules []model.Check, declared map[string]model.Problem) string {
	items := make([]string, len(rules))
	for i, c := range rules {
		answer := ""
		if p, ok := declared[c.Name]; ok && c.Name != "" {
			answer = problem("&idem.Problem", p)
		}
		items[i] = object("",
			member{"Op", checkOps[c.Op]},
			member{"Value", text(c.Value)},
			member{"Values", list("string", texts(c.Values))},
			member{"Rounded", boolean(c.Rounded)},
			member{"Scale", number(c.Scale)},
			member{"Problem", answer},
		)
	}
	return list("idem.Check", items)
}
