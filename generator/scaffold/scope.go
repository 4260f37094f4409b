package scaffold

import (
	"path"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/schema"
)

// owners are columns that commonly say whose a row is, the wider ones first.
var owners = []string{"tenant_id", "organization_id", "organisation_id", "org_id", "workspace_id", "company_id",
	"merchant_id", "account_id", "customer_id", "user_id", "owner_id"}

// scope finds the column that says whose the rows are: one that at least half
// of the tables have. Where none does, the user is asked: a wrong guess would
// let callers meet each other's keys and rows.
func (f finder) scope(v *view) {
	names := v.schema
	if len(names) == 0 {
		names, _ = f.tree.Glob(path.Join(v.Migrations, "*.sql"))
	}
	var list []schema.File
	for _, p := range names {
		if text, err := f.tree.Read(p); err == nil {
			list = append(list, schema.File{Path: p, Text: string(text)})
		}
	}
	v.Scope = config.ScopeToSet
	found := map[string]int{}
	for _, t := range schema.Build(list, &diag.List{}).Tables { // generate reports what is wrong with them
		if t.Traits.View || t.Name.Schema == "idem" {
			continue
		}
		v.tables++
		for _, name := range owners {
			if t.Column(name) != nil {
				found[name]++
			}
		}
	}
	for _, name := range owners {
		if 2*found[name] >= v.tables && found[name] > v.scoped {
			v.Scope, v.scoped = name, found[name]
		}
	}
}
