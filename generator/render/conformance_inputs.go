package render

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// conformanceInputs writes an idemtest.Input per declared input.
func conformanceInputs(op *model.Operation, example any) []string {
	var items []string
	for _, in := range op.Inputs {
		if in.From == model.FromCaller {
			continue
		}
		name, value := string(in.From)+"."+in.Name, ""
		if op.BodyWhole && in.From == model.FromBody {
			name = "body"
		}
		if in.From != model.FromBody && in.Required {
			first, _ := sample(in.Type, 0)
			value = plainText(first)
		}
		fresh := isFresh(op, in)
		items = append(items, object("",
			member{"Name", text(name)},
			member{"Type", freshType(in.Type, fresh)},
			member{"Value", raw(value)},
			member{"Other", raw(otherValue(op, in, example))},
			member{"Fresh", boolean(fresh)},
			member{"Shape", shapeOf(in.Type, fresh)},
			member{"Length", freshLength(in.Type, fresh)},
			member{"Unprinted", boolean(isUnprinted(op.Policy, in))},
			member{"Keyed", boolean(isKeyed(op, in))},
		))
	}
	return items
}

// otherValue is a valid value that the example does not have, "" if none is
// known: text, or JSON for body members.
func otherValue(op *model.Operation, in *model.Input, example any) string {
	for _, turn := range []int{1, 2, 0} {
		value, ok := sample(in.Type, turn)
		if !ok {
			continue
		}
		if in.From != model.FromBody {
			if turn > 0 || !in.Required {
				return plainText(value)
			}
			continue
		}
		at := example
		if !op.BodyWhole {
			at = memberOf(example, in.Name)
		}
		if other := encoded(value); other != encoded(at) {
			return other
		}
	}
	return ""
}

// isFresh: the database takes a value of the input once, as the intent or the
// primary key of a row that is made; or it is the key.
func isFresh(op *model.Operation, in *model.Input) bool {
	if !canBeFresh(in.Type) {
		return false
	}
	if isKeyed(op, in) && in.From != model.FromPath {
		return true
	}
	return slices.ContainsFunc(op.Steps, func(step *model.Step) bool {
		made := in.From == model.FromPath && step.Query.Shape.Kind == model.Insert && stores(step, in, "")
		return made || step.Intent != nil && slices.ContainsFunc(step.Intent.Columns, func(column string) bool {
			return stores(step, in, column)
		})
	})
}

// stores reports whether a step stores an input in a column, any if it is "".
func stores(step *model.Step, in *model.Input, column string) bool {
	for _, feed := range step.Query.Shape.Feeds {
		n := feed.Param - 1
		if feed.Assigned && (column == "" || feed.Column == column) && n >= 0 && n < len(step.Args) && step.Args[n].Input == in {
			return true
		}
	}
	return false
}

// canBeFresh: the kit makes values of the type, and no check is in the way, but
// a pattern of which a shape can be made.
func canBeFresh(t model.Type) bool {
	if t.Array || t.List || len(t.Enum) > 0 {
		return false
	}
	for _, c := range t.Checks {
		if c.Op == model.CheckPattern && freshShape(t) == "" || c.Op == model.CheckIn || c.Op == model.CheckMax || c.Op == model.CheckExclusiveMax {
			return false
		}
	}
	switch t.Kind {
	case model.KindText, model.KindUUID, model.KindInt2, model.KindInt4, model.KindInt8, model.KindNumeric:
		return true
	}
	return false
}

func freshType(t model.Type, fresh bool) string {
	switch {
	case !fresh || t.Kind == model.KindText:
		return ""
	case t.Kind == model.KindUUID:
		return "idemtest.UUID"
	}
	return "idemtest.Number"
}

// shapeOf is the shape of fresh texts that have to match a pattern.
func shapeOf(t model.Type, fresh bool) string {
	if !fresh || t.Kind != model.KindText {
		return ""
	}
	return raw(freshShape(t))
}

// freshLength is the most that a fresh text may have; a shape has its length.
func freshLength(t model.Type, fresh bool) string {
	if !fresh || t.Kind != model.KindText || freshShape(t) != "" {
		return ""
	}
	return number(mostCharacters(t))
}

// isUnprinted: the fingerprint leaves the input out.
func isUnprinted(p model.Policy, in *model.Input) bool {
	return p.NoPrint || p.Fingerprint != nil && !slices.Contains(p.Fingerprint, in.Name)
}

// isKeyed: the key is made of the input.
func isKeyed(op *model.Operation, in *model.Input) bool {
	if in.From == model.FromPath && slices.ContainsFunc(op.Key.Prefix, func(p model.Part) bool { return p.Name == in.Name }) {
		return true
	}
	switch op.Key.From {
	case "source":
		return op.Key.Source.Input == in
	case "intent":
		return slices.ContainsFunc(op.Steps, func(step *model.Step) bool {
			return step.Intent != nil && slices.ContainsFunc(step.Intent.Columns, func(column string) bool { return stores(step, in, column) })
		})
	}
	return false
}
