package review

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
	"github.com/idemgen/idemgen/generator/schema"
)

// Source is what a document is made of.
type Source struct {
	Service    *model.Service
	Operations []*plan.Operation
	Catalog    *schema.Catalog
	Migrations []schema.File     // in their order
	SQL        map[string]string // the emitted .sql files by their base name
}

// Build makes the document of a service.
func Build(src Source) *Document {
	svc := src.Service
	doc := &Document{
		Version: version, Service: svc.Name, Profile: svc.Profile, Scope: sourceText(svc.ScopeSource),
		UnknownFields: "refused", JSON: styleText(svc.JSON), Operations: []*Operation{}, Tables: []Table{},
	}
	if svc.UnknownFields {
		doc.UnknownFields = "ignored"
	}
	for _, v := range svc.Session {
		doc.Session = append(doc.Session, v.Name+" = "+sourceText(v.Source))
	}
	for _, op := range src.Operations {
		doc.Operations = append(doc.Operations, src.operation(op))
	}
	doc.Tables = src.tables(doc.Operations)
	for i, m := range schema.Migrations(src.Migrations) {
		doc.Migrations = append(doc.Migrations, migration(m, src.Migrations[i].Text))
	}
	return doc
}

func (src Source) operation(p *plan.Operation) *Operation {
	m := p.Model
	op := &Operation{
		Name: m.Name, Stored: src.Service.Name + "." + m.Name, Summary: oneLine(m.Summary), Method: m.Method, Path: m.Path, Status: m.Status,
		Key: key(m.Key), Strategy: string(p.Strategy), Reason: oneLine(p.Reason), RoundTrips: p.RoundTrips,
		Policy: policy(m.Policy), Fingerprint: fingerprint(m, src.Service.ScopeSource.Input), Response: response(src.Service, m),
		SQLFile: path.Join("sql", m.FileBase+".sql"), SQL: src.SQL[m.FileBase+".sql"], Pos: m.Pos,
	}
	switch p.Strategy {
	case plan.Stepped:
		op.Replay = 2
	case plan.Fused, plan.Verbatim:
		op.Replay = 1
	case plan.Direct:
	}
	for _, in := range m.Inputs {
		op.Inputs = append(op.Inputs, input(in))
	}
	for _, h := range m.Headers {
		op.Headers = append(op.Headers, h.Name)
	}
	for _, s := range m.Steps {
		op.Steps = append(op.Steps, step(s))
		op.Reads = append(op.Reads, tableNames(s.Query.Shape.Reads)...)
		op.Writes = append(op.Writes, tableNames(s.Query.Shape.Writes)...)
		if s.Intent != nil {
			op.Intents = append(op.Intents, intent(s))
		}
	}
	op.outside(m)
	op.Headers, op.Reads, op.Writes = sorted(op.Headers), sorted(op.Reads), sorted(op.Writes)
	op.Answers = answers(src.Service.Profile, p)
	op.Locks = src.locks(p)
	for _, s := range p.Statements {
		op.Sections = append(op.Sections, Section{Name: s.Name, Note: sectionNote(p.Strategy, s.Name), SQL: strings.TrimRight(s.SQL, "\n")})
	}
	op.diagram = diagram(op)
	return op
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func tableNames(names []model.TableName) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n.String()
	}
	return out
}

func key(k model.Key) Key {
	out := Key{From: k.From, Required: k.Required}
	if !k.Protects() {
		return Key{From: "none"}
	}
	if k.From == "source" {
		out.Source = sourceText(k.Source)
	}
	for _, p := range k.Prefix {
		if p.Name != "" {
			out.Prefix += "{" + p.Name + "}"
		}
		out.Prefix += p.Text
	}
	return out
}

func policy(p model.Policy) Policy {
	out := Policy{
		Success: duration(p.Success), ClientError: duration(p.ClientError), ServerError: duration(p.ServerError), Wait: duration(p.Wait),
		Timeout: duration(p.Timeout), MaxBody: p.MaxBody, Isolation: p.Isolation, Record: "body", ForceRetry: p.ForceRetry,
	}
	switch {
	case !p.RecordBody:
		out.Record = "none"
	case p.Sealed:
		out.Record = "sealed"
	}
	if out.Isolation == "" {
		out.Isolation = "read committed"
	}
	return out
}

// duration is as short as Go reads it: 24h, not 24h0m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// fingerprint lists the members whose values count. The scope does not: it is
// part of the key's identity already.
func fingerprint(m *model.Operation, scope *model.Input) Fingerprint {
	switch {
	case !m.Key.Protects() || m.Policy.NoPrint:
		return Fingerprint{Mode: "none"}
	case m.Policy.Fingerprint != nil:
		return Fingerprint{Mode: "some", Members: sorted(slices.Clone(m.Policy.Fingerprint))}
	}
	out := Fingerprint{Mode: "all"}
	for _, in := range m.Inputs {
		if scope == nil || inputName(in) != inputName(scope) {
			out.Members = append(out.Members, inputName(in))
		}
	}
	out.Members = sorted(out.Members)
	return out
}

func intent(s *model.Step) Intent {
	in := s.Intent
	out := Intent{Table: shortName(in.Table), Columns: in.Columns, Where: in.Where, Index: in.Index, On: s.OnIntent}
	if out.On == "" {
		out.On = "conflict"
	}
	return out
}

func step(s *model.Step) Step {
	out := Step{Name: s.Name}
	if s.Each != nil {
		out.Each = inputName(s.Each)
	}
	if s.Go != nil {
		out.Function, out.Does = s.Go.Func, "Go function "+s.Go.Func
		return out
	}
	shape := s.Query.Shape
	out.Does = string(shape.Kind)
	switch {
	case shape.Kind != model.Select:
		out.Does += " " + shape.Target.String()
	case len(shape.Reads) > 0:
		out.Does += " " + strings.Join(sorted(tableNames(shape.Reads)), ", ")
	}
	return out
}

func migration(m schema.Migration, text string) Migration {
	out := Migration{File: m.Path, Text: strings.ReplaceAll(text, "\r\n", "\n"), Goose: schema.IsGoose(text), Creates: tableNames(m.Creates)}
	for _, b := range m.Builds {
		out.Indexes = append(out.Indexes, Index{b.Name, b.Table.String(), b.Unique, b.Concurrently, b.Constraint})
	}
	return out
}

func styleText(s model.JSONStyle) string {
	out := s.Case
	if s.BigintString {
		out += ", bigint as string"
	}
	for _, w := range []struct{ name, member string }{{"one", s.One}, {"many", s.Many}} {
		if w.member != "" {
			out += fmt.Sprintf(", %s row%s in %q", w.name, map[string]string{"many": "s"}[w.name], w.member)
		}
	}
	return out
}
