package check

import (
	"math/big"
	"slices"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// bounded is a bind with a default, min or max. They are judged when every use
// of the input is known: a value used twice obeys the rules of both uses.
type bounded struct {
	bind   *spec.Bind
	in     *model.Input
	member string  // of the list's element; "" for the input itself
	def    *string // the default; nil if there is none, or it is refused already
}

func (v bounded) typ() model.Type {
	for _, m := range v.in.Type.Members {
		if m.Name == v.member {
			return m.Type
		}
	}
	return v.in.Type
}

// limitForm checks that min= and max= are values that a request can be
// compared with.
func (b *builder) limitForm(bind *spec.Bind, p model.Param) {
	kinds := []spec.SourceKind{spec.SourceBody, spec.SourceQuery, spec.SourceHeader, spec.SourcePath, spec.SourceItem}
	for _, limit := range []*spec.Text{bind.Min, bind.Max} {
		switch {
		case limit == nil:
		case !slices.Contains(kinds, bind.Source.Kind):
			b.diags.Errorf(diag.BindType, limit.Pos, "min= and max= check what a request brings, which %s is not", sourceText(bind.Source)).
				Hint("remove it")
		case !ordered(p.Type):
			b.diags.Errorf(diag.BindType, limit.Pos, "min= and max= are for numbers, dates and times; @%s is %s", p.Name, describe(p.Type)).
				Hint("for a text's length, use varchar(n) or CHECK (length(…) …) on its column")
		default:
			if _, err := canonicalScalar(p.Type, limit.Value); err != nil {
				b.diags.Errorf(diag.BindType, limit.Pos, "%s does not fit @%s (%s): %v", quoted(limit.Value), p.Name, describe(p.Type), err).
					Hint("write a value of the parameter's type")
			}
		}
	}
}

func ordered(t model.Type) bool {
	switch t.Kind {
	case model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric, model.KindFloat4, model.KindFloat8,
		model.KindTimestamptz, model.KindTimestamp, model.KindDate, model.KindTime:
		return !t.Array
	}
	return false
}

// limits are the checks of min= and max=.
func limits(bind *spec.Bind, t model.Type) []model.Check {
	var out []model.Check
	add := func(op model.CheckOp, limit *spec.Text) {
		if limit == nil || !ordered(t) {
			return
		}
		if v, err := canonicalScalar(t, limit.Value); err == nil {
			out = append(out, model.Check{Op: op, Value: v})
		}
	}
	add(model.CheckMin, bind.Min)
	add(model.CheckMax, bind.Max)
	return out
}

// bounds refuses defaults that the request's own rules refuse, and limits that
// no value can meet.
func (b *builder) bounds() {
	type place struct {
		in     *model.Input
		member string
	}
	empty := map[place]bool{}
	for _, v := range b.bounded {
		if v.def != nil {
			b.defaultHolds(v)
		}
		if at := (place{v.in, v.member}); !empty[at] {
			empty[at] = b.limitsMeet(v)
		}
	}
}

func (b *builder) defaultHolds(v bounded) {
	if what := broken(v.typ(), *v.def); what != "" {
		b.diags.Errorf(diag.BindType, v.bind.Default.Pos, "the default %s of %s %s", quoted(v.bind.Default.Value), sourceText(v.bind.Source), what).
			Hint("every request without the member would be refused: write a default that a request could send")
	}
}

// limitsMeet reports limits that leave no value, and whether it did.
func (b *builder) limitsMeet(v bounded) bool {
	limit := v.bind.Max
	if limit == nil {
		limit = v.bind.Min
	}
	if limit == nil {
		return false
	}
	first, second, none := nothingFits(v.typ())
	if none {
		b.diags.Errorf(diag.BindType, limit.Pos, "no value of %s can be right: it %s, and it %s", sourceText(v.bind.Source), demand(first), demand(second)).
			Hint("correct one of the two, or every request is refused")
	}
	return none
}

// nothingFits finds two checks that no value can meet.
func nothingFits(t model.Type) (a, other model.Check, none bool) {
	for i, low := range t.Checks {
		for j, high := range t.Checks {
			if i != j && apart(t.Kind, low, high) {
				return low, high, true
			}
		}
	}
	return model.Check{}, model.Check{}, false
}

// apart reports whether a lower bound is above an upper one, or the other check
// leaves nothing of a list.
func apart(k model.Kind, low, high model.Check) bool {
	lower := low.Op == model.CheckMin || low.Op == model.CheckExclusiveMin
	upper := high.Op == model.CheckMax || high.Op == model.CheckExclusiveMax
	switch {
	case low.Op == model.CheckIn && !low.Rounded:
		return !slices.ContainsFunc(low.Values, func(v string) bool { return holds(k, high, v) })
	case !lower || !upper:
		return false
	case high.Rounded && !low.Rounded: // rounding keeps the order
		return !holds(k, high, low.Value)
	case low.Rounded && !high.Rounded:
		return !holds(k, low, high.Value)
	case k == model.KindInt2 || k == model.KindInt4 || k == model.KindInt8:
		from, okFrom := wholeFrom(low)
		to, okTo := wholeTo(high)
		return okFrom && okTo && from.Cmp(to) > 0
	}
	order, ok := compare(k, low.Value, high.Value)
	open := low.Op == model.CheckExclusiveMin || high.Op == model.CheckExclusiveMax
	return ok && (order > 0 || order == 0 && open)
}

// wholeFrom is the least whole number that meets a lower bound.
func wholeFrom(c model.Check) (*big.Int, bool) {
	bound, ok := rational(c.Value)
	if !ok {
		return nil, false
	}
	n := new(big.Int).Div(bound.Num(), bound.Denom()) // the floor
	if c.Op == model.CheckExclusiveMin || !bound.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return n, true
}

// wholeTo is the greatest whole number that meets an upper bound.
func wholeTo(c model.Check) (*big.Int, bool) {
	bound, ok := rational(c.Value)
	if !ok {
		return nil, false
	}
	n := new(big.Int).Div(bound.Num(), bound.Denom())
	if c.Op == model.CheckExclusiveMax && bound.IsInt() {
		n.Sub(n, big.NewInt(1))
	}
	return n, true
}
