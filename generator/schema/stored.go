package schema

import (
	"math/big"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// storedRules are the rules of a column or domain as they hold for a value that
// is yet to be stored: PostgreSQL checks what the column has made of it. A
// numeric(p,s) rounds; a real keeps so few digits that only the whole numbers
// which it holds exactly compare as they are written.
func storedRules(t model.Type, rules []model.Check) []model.Check {
	switch {
	case t.Kind == model.KindNumeric && t.Precision > 0:
		rules = slices.Clone(rules)
		for i := range rules {
			rules[i].Rounded, rules[i].Scale = true, t.Scale
		}
	case t.Kind == model.KindFloat4:
		rules = slices.DeleteFunc(slices.Clone(rules), func(c model.Check) bool {
			return slices.ContainsFunc(append(slices.Clone(c.Values), c.Value), inexactReal)
		})
	}
	return rules
}

// exactReals is 2^24: up to there a real holds every whole number.
const exactReals = 1 << 24

func inexactReal(bound string) bool {
	if bound == "" {
		return false
	}
	n, ok := new(big.Rat).SetString(bound)
	return !ok || !n.IsInt() || n.Num().CmpAbs(big.NewInt(exactReals)) > 0
}
