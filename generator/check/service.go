package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/spec"
)

// checker is one run of Check.
type checker struct {
	in      Input
	diags   *diag.List
	cat     *schema.Catalog
	svc     *model.Service
	queries []*query
	intents *intentSet
	profile spec.Policy               // what the profile says: every key
	callers map[string]*model.Input   // the service-wide caller fields
	tied    map[*model.Operation]bool // reported by tie already
}

func check(in Input, diags *diag.List) *model.Service {
	c := &checker{in: in, diags: diags, cat: in.Catalog, intents: newIntentSet(in.Catalog, diags),
		profile: config.ProfilePolicy(in.Config.Profile), callers: map[string]*model.Input{}, tied: map[*model.Operation]bool{}}
	c.svc = newService(in)
	c.scope()
	c.queries = matchQueries(in.Decls, in.Queries)
	for _, d := range c.declared() {
		if op := c.operation(d); op != nil {
			c.svc.Operations = append(c.svc.Operations, op)
		}
	}
	slices.SortStableFunc(c.svc.Operations, func(a, b *model.Operation) int { return strings.Compare(a.Name, b.Name) })
	c.untied()
	c.unused()
	c.session()
	c.alikeCallers()
	c.finishCallers()
	c.routes()
	c.operationNames()
	c.goFuncs()
	c.svc.Intents = c.intents.list()
	return c.svc
}

func newService(in Input) *model.Service {
	cfg := in.Config
	return &model.Service{
		Name: cfg.Service, Package: cfg.Package, ModulePath: in.Module, Profile: cfg.Profile,
		JSON: model.JSONStyle{Case: cfg.JSON.Case, BigintString: cfg.JSON.Bigint == "string",
			One: cfg.JSON.One, Many: cfg.JSON.Many},
		UnknownFields: cfg.UnknownFields == "ignore",
	}
}

// cased writes a name of SQL in the service's JSON case; dots nest.
func (c *checker) cased(name string) string {
	if c.svc.JSON.Case != "camel" {
		return name
	}
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = camel(p)
	}
	return strings.Join(parts, ".")
}

func (c *checker) scope() {
	src := c.in.Config.Scope
	switch {
	case src.Kind == spec.SourceNone:
		c.svc.ScopeSource = model.Source{Kind: model.SourceNone}
	case src.Kind == spec.SourceCaller && len(src.Path) == 1:
		in := c.callerField(src.Path[0], model.Type{}, src.Pos)
		c.svc.ScopeSource = model.Source{Kind: model.SourceInput, Input: in}
	default:
		pos := src.Pos
		if pos.IsZero() {
			pos = diag.Pos{File: c.in.Config.File}
		}
		c.diags.Errorf(diag.ScopeMissing, pos, "the service has no scope that keys belong to").
			Hint("write scope: caller.tenant_id, or scope: none for a service without callers")
		c.svc.ScopeSource = model.Source{Kind: model.SourceNone}
	}
}

// isScope reports whether a source is the scope.
func (c *checker) isScope(src model.Source) bool {
	if src.Kind == model.SourceScope {
		return true
	}
	scope := c.svc.ScopeSource
	return scope.Kind == model.SourceInput && src.Kind == model.SourceInput && src.Input != nil &&
		src.Input.From == model.FromCaller && src.Input.Name == scope.Input.Name
}

// session resolves `session:`, which runs ahead of every operation, so only
// what every request has can be used.
func (c *checker) session() {
	for _, v := range c.in.Config.Session {
		out := model.SessionVar{Name: v.Name.Value}
		switch {
		case v.Source.Kind == spec.SourceCaller && len(v.Source.Path) == 1:
			out.Source = model.Source{Kind: model.SourceInput, Input: c.callerField(v.Source.Path[0], model.Type{}, v.Source.Pos)}
		case v.Source.Kind == spec.SourceScope && c.svc.ScopeSource.Kind != model.SourceNone:
			out.Source = model.Source{Kind: model.SourceScope}
		case v.Source.Kind == spec.SourceLiteral:
			out.Source = model.Source{Kind: model.SourceLiteral, Literal: v.Source.Text}
		default:
			c.diags.Errorf(diag.BindUnknown, v.Source.Pos, "session: %s can't come from %s", v.Name.Value, sourceText(v.Source)).
				Hint("use caller.NAME, scope or a 'literal': a session setting is made ahead of every operation")
			continue
		}
		c.svc.Session = append(c.svc.Session, out)
	}
}

// unused warns about words that have no effect.
func (c *checker) unused() {
	for _, q := range c.queries {
		if q.decl.Annotated && !q.used && q.decl.Decl.HTTP == nil {
			c.diags.Warnf(diag.RouteForm, q.decl.Pos, "the annotations of %s have no effect", q.decl.Name).
				Hint("give it a route with @http, or use it in an endpoint spec")
		}
	}
	params := map[string]bool{}
	for _, q := range c.in.Queries {
		for _, p := range q.Params {
			params[p.Name] = true
		}
	}
	for _, b := range c.in.Config.Bind {
		if !c.hasParam(b.Param.Value) {
			c.diags.Warnf(diag.BindUnknown, b.Param.Pos, "no query has a parameter named %s", b.Param.Value).
				Hint("%s", didYouMean(b.Param.Value, sortedKeys(params), "parameter"))
		}
	}
}

// sourceText writes a source as it is spelled.
func sourceText(s spec.Source) string {
	switch s.Kind {
	case spec.SourceLiteral:
		return "'" + s.Text + "'"
	case spec.SourceHas:
		return "has(body." + strings.Join(s.Path, ".") + ")"
	case spec.SourceStep:
		return strings.Join(s.Path, ".")
	}
	return strings.Join(append([]string{string(s.Kind)}, s.Path...), ".")
}
