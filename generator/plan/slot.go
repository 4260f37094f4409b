package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// slot is one column that a statement returns, under the name that the
// generated SQL gives it: by place, so that names that repeat (sqlc.embed),
// that PostgreSQL makes up, or that the JSON style changes don't matter.
type slot struct {
	name string   // of the column in our common table expression
	full string   // the model's name; for a column of an embed, the embed's and its own
	path []string // of the JSON member
	typ  model.Type
}

// identBytes is the longest identifier that PostgreSQL doesn't cut.
const identBytes = 63

func makeSlots(columns []model.Column) []slot {
	var out []slot
	for _, c := range columns {
		path := strings.Split(c.JSON, ".")
		if c.Embed == nil {
			out = append(out, slot{full: c.Name, path: path, typ: c.Type})
			continue
		}
		for _, e := range c.Embed {
			out = append(out, slot{full: c.Name + "." + e.Name, path: append(slices.Clone(path), e.JSON), typ: e.Type})
		}
	}
	seen := map[string]bool{}
	for i := range out {
		name := out[i].full
		if len(name) > identBytes || seen[name] {
			name = fmt.Sprintf("column_%d", i+1)
		}
		seen[name] = true
		out[i].name = name
	}
	return out
}

// find looks a column up by its name, as the statement returns it.
func (u *unit) find(name string) *slot {
	for i := range u.slots {
		if u.slots[i].full == name {
			return &u.slots[i]
		}
	}
	return nil
}

// visible are the slots of the response.
func (u *unit) visible() []slot {
	hidden := slices.Clone(u.step.Omit)
	for _, r := range u.step.Requires {
		hidden = append(hidden, r.Column)
	}
	for _, s := range u.step.Statuses {
		hidden = append(hidden, s.Column)
	}
	for _, e := range u.step.Events {
		if e.If != "" {
			hidden = append(hidden, e.If)
		}
	}
	return slices.DeleteFunc(slices.Clone(u.slots), func(s slot) bool {
		return slices.ContainsFunc(hidden, s.within)
	})
}

// within reports whether the slot is the column name, or below it.
func (s slot) within(name string) bool {
	return s.full == name || strings.HasPrefix(s.full, name+".")
}
