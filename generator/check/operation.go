package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// builder makes one operation.
type builder struct {
	*checker
	d          *declaration
	op         *model.Operation
	pathParams []string
	inputs     map[inputKey]*model.Input
	keyUses    []spec.Source // `key` as a source
	asked      []asked       // has(…) arguments, resolved when every input is known
	bounded    []bounded     // defaults and limits, judged when every input is known
}

type inputKey struct {
	from model.InputFrom
	name string
}

// operation resolves one declaration; nil if nothing sensible can be made.
func (c *checker) operation(d *declaration) *model.Operation {
	b := &builder{checker: c, d: d, inputs: map[inputKey]*model.Input{}}
	b.op = &model.Operation{Name: d.name, Pos: d.pos, Description: strings.TrimSpace(d.description),
		Summary: firstSentence(d.description), Spec: d.spec, Async: d.words.Async != nil}
	if d.words.Operation != nil {
		b.op.Name, b.op.Pos = d.words.Operation.Value, d.words.Operation.Pos
	}
	b.op.FileBase = fileBase(b.op.Name)
	for _, t := range d.words.Tags {
		b.op.Tags = append(b.op.Tags, t.Value)
	}
	b.op.Method, b.op.Path = d.words.HTTP.Method, d.words.HTTP.Path
	b.pathParams, _ = parsePath(b.op.Path)
	if !b.steps() {
		return nil
	}
	b.unknownOperationBinds()
	b.resolveAsked()
	b.tie()
	b.response()
	b.status(b.recordedHTTP(d.words.HTTP), b.op.Response.Kind != model.ResponseNone)
	b.webhook()
	b.consumer()
	b.rules()
	b.policy()
	b.key()
	b.keyless()
	b.durable()
	b.events()
	b.forceRetry()
	b.recordless()
	b.headers()
	b.finishInputs()
	b.wholeInputs()
	b.noNulls()
	b.bounds()
	b.fingerprint()
	b.example()
	b.noRoute()
	b.tool()
	return b.op
}

// steps resolves every statement with its arguments, in order.
func (b *builder) steps() bool {
	complete := true
	for i := range b.d.steps {
		sd := &b.d.steps[i]
		if sd.call != nil {
			step := b.goStep(sd)
			b.stepName(step)
			b.op.Steps = append(b.op.Steps, step)
			continue
		}
		q := b.resolve(sd.query)
		if q == nil {
			complete = false
			continue
		}
		step := &model.Step{Name: sd.name, Pos: sd.pos, Query: q}
		b.stepName(step)
		b.command(sd, step)
		if sd.each != nil {
			step.Each = b.list(*sd.each)
		}
		for _, p := range q.Params {
			step.Args = append(step.Args, b.argument(sd, step, p))
		}
		b.idleEach(sd, step)
		b.unknownBinds(sd, q)
		b.op.Steps = append(b.op.Steps, step)
	}
	if complete {
		b.goArguments()
	}
	return complete
}

// idleEach refuses a list of which nothing is used: the parameters of such a
// step come from the body, whose members the author took for the element's.
func (b *builder) idleEach(sd *stepDecl, step *model.Step) {
	uses := func(p model.Param) bool {
		bind := b.bindOf(sd, p.Name)
		return bind != nil && bind.Source.Kind == spec.SourceItem
	}
	if sd.each != nil && !slices.ContainsFunc(step.Query.Params, uses) {
		b.diags.Errorf(diag.StepOrder, sd.each.Pos, "%s runs once per element of %s, but nothing in it comes from the element", step.Name, sourceText(*sd.each)).
			Hint("bind what does: bind: {PARAM: item.NAME}; or remove each:")
	}
}

// reservedSteps are the first words of sources: a step of that name could not
// be referred to.
var reservedSteps = []string{"body", "path", "query", "header", "caller", "scope", "key", "now", "uuid4", "uuid7", "item", "has", "none"}

func (b *builder) stepName(step *model.Step) {
	if slices.Contains(reservedSteps, step.Name) {
		b.diags.Errorf(diag.NameCollision, step.Pos, "a step can't be named %s, which is a source", step.Name).
			Hint("give it another name with as:")
	}
	for _, other := range b.op.Steps {
		if other.Name == step.Name {
			b.diags.Errorf(diag.NameCollision, step.Pos, "two steps are named %s, this one and the one at %s", step.Name, other.Pos).
				Hint("give one of them another name with as:")
			return
		}
	}
}

// command checks that the query's command fits its use.
func (b *builder) command(sd *stepDecl, step *model.Step) {
	q := step.Query
	switch q.Command {
	case "one", "many", "exec", "execrows":
	case "batchone", "batchmany", "batchexec", "copyfrom":
		if sd.each == nil {
			b.diags.Errorf(diag.QueryUnsupport, q.Pos, ":%s runs once per element of a list", q.Command).
				Hint("use it as a step of an endpoint spec with each: body.NAME, or make it :one or :exec")
		}
	default:
		b.diags.Errorf(diag.QueryUnsupport, q.Pos, ":%s has no form as an operation", q.Command).
			Hint("use :one, :many, :exec or :execrows")
	}
	if isRead(b.op.Method) && (q.Shape.Kind != model.Select && q.Shape.Kind != "" || q.Shape.ModifyingCTE) {
		b.diags.Errorf(diag.RouteForm, b.d.words.HTTP.Pos, "%s must change nothing, but %s writes", b.op.Method, step.Name).
			Hint("use POST, PUT, PATCH or DELETE")
	}
}

// finishInputs orders the inputs and settles what may be left out.
func (b *builder) finishInputs() {
	order := []model.InputFrom{model.FromPath, model.FromQuery, model.FromHeader, model.FromBody, model.FromCaller}
	for _, in := range b.inputs {
		switch in.From {
		case model.FromCaller: // settled for the whole service
		case model.FromPath:
			in.Required, in.Nullable = true, false
		case model.FromBody:
			in.Required = !in.Type.Nullable && in.Default == nil && !in.HasAsked
			in.Nullable = in.Type.Nullable
		default: // a query string and a header have no null
			in.Required = !in.Type.Nullable && in.Default == nil
		}
		b.op.Inputs = append(b.op.Inputs, in)
	}
	slices.SortFunc(b.op.Inputs, func(x, y *model.Input) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.From), slices.Index(order, y.From)), strings.Compare(x.Name, y.Name))
	})
	b.bodyShape()
	for _, name := range b.pathParams {
		if _, used := b.inputs[inputKey{model.FromPath, name}]; !used {
			b.diags.Errorf(diag.RouteForm, b.d.words.HTTP.PathPos, "nothing uses the path parameter {%s}", name).
				Hint("%s", b.pathHint(name))
		}
	}
}

// pathHint names the parameter that a path parameter was probably meant for:
// one that nothing binds, and whose name is alike, or the only one.
func (b *builder) pathHint(name string) string {
	var free []string
	for i, step := range b.op.Steps {
		for n, p := range step.Query.Params {
			if b.bindOf(&b.d.steps[i], p.Name) == nil && fromRequest(step, n+1) && step.Args[n].Input.From != model.FromPath {
				free = append(free, p.Name)
			}
		}
	}
	best := diag.Nearest(name, free)
	for _, p := range free {
		if strings.HasSuffix(name, "_"+p) || strings.HasSuffix(p, "_"+name) || sameField(p, name) {
			best = p
			break
		}
	}
	if best == "" && len(free) == 1 {
		best = free[0]
	}
	if best == "" {
		return "name a parameter @" + name + ", or write @bind PARAM path." + name
	}
	return "rename it to {" + best + "}, or write @bind " + best + " path." + name
}

// bodyShape refuses members that can't stand in one document.
func (b *builder) bodyShape() {
	var members []*model.Input
	for _, in := range b.op.Inputs {
		if in.From == model.FromBody {
			members = append(members, in)
		}
	}
	for _, in := range members {
		if in.Name == "" && len(members) > 1 {
			b.diags.Errorf(diag.BindType, in.Pos, "the body can't be one value and have members of its own").
				Hint("bind the whole document with `body`, or its members with body.NAME")
			return
		}
		for _, other := range members {
			if strings.HasPrefix(other.Name, in.Name+".") && in.Name != "" {
				b.diags.Errorf(diag.BindType, other.Pos, "body.%s is a value, so body.%s can't be in it", in.Name, other.Name).
					Hint("bind one of them to another member")
			}
		}
	}
}
