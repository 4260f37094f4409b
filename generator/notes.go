package generator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
)

// notes names the indexes that idemgen made for an intent which no operation
// has any more, and a schedule of sweeping that is not wanted any more. Migrations are never taken back: the index goes on to refuse
// rows until one of the user's drops it.
func (r *runner) notes() []string {
	var out []string
	for _, file := range slices.Sorted(maps.Values(r.catalog.Markers)) {
		if index := r.leftIndex(file); index != "" {
			out = append(out, fmt.Sprintf("no operation has the intent of %s any more; its index %s stays: drop it in a migration of yours, or delete that file if it was never applied", file, index))
		}
	}
	out = slices.Compact(out)
	if file := r.catalog.Sweep.File; file != "" && r.cfg.Sweep.Cron == "" {
		out = append(out, fmt.Sprintf("`sweep:` names no schedule any more; %s goes on to sweep at %s: end it in a migration of yours with SELECT cron.unschedule('idemgen_sweep')", file, r.catalog.Sweep.Schedule))
	}
	return out
}

// leftIndex is the index that a migration made and that no intent uses, "" if
// there is none. The indexes of partitions go with their table's.
func (r *runner) leftIndex(file string) string {
	for _, t := range r.catalog.Tables {
		for _, u := range t.Uniques {
			if u.File == file && strings.HasSuffix(u.Name, "_intent") && !r.uses(t, u) {
				return u.Name
			}
		}
	}
	return ""
}

func (r *runner) uses(t *schema.Table, u *schema.Unique) bool {
	return slices.ContainsFunc(r.wanted, func(in *model.Intent) bool {
		return in.Index == u.Name && in.Table == t.Name
	})
}
