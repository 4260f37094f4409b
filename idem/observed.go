package idem

import "context"

// observed is the context of a request with the values of another one that an
// observer derived from it. An observer ends no request.
type observed struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (o observed) Value(key any) any { return o.values.Value(key) }

// valuesOf is derived, unless that ends at another time than ctx.
func valuesOf(ctx, derived context.Context) context.Context {
	if derived.Done() == ctx.Done() {
		return derived
	}
	return observed{ctx, derived}
}
