package check

import (
	"reflect"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// mergeType makes into the type of a value that is used as both: every rule of
// either holds. It reports false where the two can't be one.
func mergeType(into *model.Type, t model.Type) bool {
	if into.Kind != t.Kind || into.Array != t.Array || into.List != t.List {
		return false
	}
	if into.Enum != nil && t.Enum != nil && !slices.Equal(into.Enum, t.Enum) {
		return false
	}
	if into.Nullable && !t.Nullable {
		into.Nullable, into.GoType, into.Name = false, t.GoType, t.Name
	}
	if into.Enum == nil {
		into.Enum = t.Enum
	}
	mergeRules(into, t)
	return mergeMembers(into, t)
}

func mergeRules(into *model.Type, t model.Type) {
	if t.Length > 0 && (into.Length == 0 || t.Length < into.Length) {
		into.Length = t.Length
	}
	if into.Precision == 0 {
		into.Precision, into.Scale = t.Precision, t.Scale
	}
	into.Checks = addChecks(into.Checks, t.Checks, "")
}

// addChecks appends the checks that are not there yet; name is given to those
// without one. The first list is not changed in place: types share theirs.
func addChecks(have, more []model.Check, name string) []model.Check {
	have = slices.Clip(have)
	for _, m := range more {
		if m.Name == "" {
			m.Name = name
		}
		if !slices.ContainsFunc(have, func(h model.Check) bool { return reflect.DeepEqual(h, m) }) {
			have = append(have, m)
		}
	}
	return have
}

func mergeMembers(into *model.Type, t model.Type) bool {
	into.Members = slices.Clone(into.Members)
	for _, m := range t.Members {
		i := slices.IndexFunc(into.Members, func(have model.Member) bool { return have.Name == m.Name })
		if i < 0 {
			into.Members = append(into.Members, m)
			continue
		}
		have := &into.Members[i]
		if !mergeType(&have.Type, m.Type) {
			return false
		}
		have.Required = have.Required || m.Required
	}
	return true
}
