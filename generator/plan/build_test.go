package plan

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
)

// types maps the SQL names that tests use to the model's types.
var types = map[string]model.Kind{
	"bool": model.KindBool, "smallint": model.KindInt2, "integer": model.KindInt4, "bigint": model.KindInt8,
	"numeric": model.KindNumeric, "real": model.KindFloat4, "float8": model.KindFloat8,
	"text": model.KindText, "varchar": model.KindText, "char": model.KindText, "citext": model.KindText, "mood": model.KindText,
	"uuid": model.KindUUID, "timestamptz": model.KindTimestamptz, "timestamp": model.KindTimestamp,
	"date": model.KindDate, "time": model.KindTime, "interval": model.KindInterval, "bytea": model.KindBytea,
	"json": model.KindJSON, "jsonb": model.KindJSON,
}

// typ reads a type as tests write it: numeric(12,2), text[], bigint?.
func typ(t testing.TB, s string) model.Type {
	out := model.Type{}
	s, out.Nullable = strings.CutSuffix(s, "?")
	out.Name = s
	base, array := strings.CutSuffix(s, "[]")
	out.Array = array
	base, _, _ = strings.Cut(base, "(")
	kind, ok := types[base]
	if !ok {
		t.Fatalf("type %q", s)
	}
	out.Kind = kind
	return out
}

// columns reads "id bigint, note text?"; an embed is "student{id bigint, name text}".
func columns(t testing.TB, list string) []model.Column {
	var out []model.Column
	for _, item := range splitTop(list) {
		if name, inner, ok := strings.Cut(item, "{"); ok {
			out = append(out, model.Column{Name: name, JSON: name, Embed: columns(t, strings.TrimSuffix(inner, "}"))})
			continue
		}
		at := strings.LastIndex(item, " ")
		out = append(out, model.Column{Name: item[:at], JSON: item[:at], Type: typ(t, item[at+1:])})
	}
	return out
}

func splitTop(list string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(' || r == '{':
			depth++
		case r == ')' || r == '}':
			depth--
		case r == ',' && depth == 0:
			if item := strings.TrimSpace(list[start:i]); item != "" {
				out = append(out, item)
			}
			start = i + 1
		}
	}
	return out
}

// step is one statement as tests describe it. Parameters in sql are written
// @name::type at their first place, and @name later.
type step struct {
	name, command, sql, returns string
	change                      func(*model.Step)
}

var parameter = regexp.MustCompile(`@([a-z_]+)(?:<([a-z0-9 (),?\[\]]+)>)?`)

// build makes the model of a step. Sources are the body's members, but for
// tenant_id, which is the caller's.
func (s step) build(t testing.TB) *model.Step {
	q := &model.Query{Name: s.name, Command: s.command, Columns: columns(t, s.returns)}
	out := &model.Step{Name: s.name, Query: q, OnIntent: "conflict"}
	numbers := map[string]int{}
	q.SQL = parameter.ReplaceAllStringFunc(s.sql, func(match string) string {
		m := parameter.FindStringSubmatch(match)
		if numbers[m[1]] == 0 {
			numbers[m[1]] = len(numbers) + 1
			from := model.FromBody
			if m[1] == "tenant_id" {
				from = model.FromCaller
			}
			typeName := m[2]
			if typeName == "" {
				typeName = "text"
			}
			ty := typ(t, typeName)
			q.Params = append(q.Params, model.Param{Number: numbers[m[1]], Name: m[1], Type: ty})
			out.Args = append(out.Args, model.Source{Kind: model.SourceInput, Input: &model.Input{From: from, Name: m[1], Type: ty}})
		}
		return fmt.Sprintf("$%d", numbers[m[1]])
	})
	out.Empty = model.Empty{Problem: model.Problem{Status: 409, Code: "conflict"}}
	if s.change != nil {
		s.change(out)
	}
	return out
}

// operation makes a POST operation with a required key of these steps.
func operation(t testing.TB, name string, change func(*model.Operation), steps ...step) *model.Operation {
	op := &model.Operation{
		Name: name, Method: "POST", Path: "/" + name, Status: 201,
		Key: model.Key{From: "header", Required: true},
		Policy: model.Policy{Success: 24 * time.Hour, ClientError: 2 * time.Hour, Wait: 2 * time.Second,
			Isolation: readCommitted, RecordBody: true},
	}
	for _, s := range steps {
		op.Steps = append(op.Steps, s.build(t))
	}
	last := op.Steps[len(op.Steps)-1]
	op.Response = model.Response{Kind: model.ResponseStep, Step: last.Name}
	if last.Query.Command == "exec" || last.Query.Command == "execrows" {
		op.Response, op.Status = model.Response{Kind: model.ResponseNone}, 204
	}
	if change != nil {
		change(op)
	}
	return op
}

// planned plans one operation that must be accepted.
func planned(t testing.TB, op *model.Operation) *Operation {
	t.Helper()
	return plannedIn(t, &model.Service{}, op)
}

func plannedIn(t testing.TB, svc *model.Service, op *model.Operation) *Operation {
	t.Helper()
	svc.Name = "shop"
	if svc.JSON.Many == "" {
		svc.JSON.Many = "items"
	}
	svc.Operations = []*model.Operation{op}
	var diags diag.List
	ops := Plan(svc, &diags)
	if err := diags.Err(); err != nil || len(ops) != 1 {
		t.Fatalf("%s: %v", op.Name, err)
	}
	return ops[0]
}

// section finds a statement by name.
func (o *Operation) section(t testing.TB, name string) Statement {
	t.Helper()
	for _, s := range o.Statements {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("%s has no section %s", o.Model.Name, name)
	return Statement{}
}
