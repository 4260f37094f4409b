package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// A typing error in a caller's name would be a field that nobody fills.
func TestMisspeltCallerIsNamed(t *testing.T) {
	q := "-- name: Op :exec\n-- @http POST /x\nUPDATE payments SET note = @note WHERE tenant_id = @tenant_id AND order_id = @order_id;\n"
	bound := func(name string) func(*config.Config) {
		return func(c *config.Config) {
			c.Bind[0].Source = spec.Source{Kind: spec.SourceCaller, Path: []string{name}, Pos: diag.Pos{File: "idemgen.yaml", Line: 9, Col: 20}}
		}
	}
	s := service{queries: q, config: bound("tenantid")}
	s.refuses(t, want{diag.BindUnknown, "caller.tenantid and caller.tenant_id would be two fields", "did you mean caller.tenant_id?", ""})
	_, diags := s.check(t)
	if d := diags[0]; d.Pos.Line != 9 || d.Severity != diag.Warning {
		t.Errorf("want a warning at the bind, got %s", d.Error())
	}
	service{queries: words(q, "-- @bind order_id caller.tenat_id")}.
		refuses(t, want{diag.BindUnknown, "caller.tenat_id and caller.tenant_id", "caller.tenant_id", "caller.tenat_id"})
	service{queries: words(q, "-- @bind order_id caller.team_id")}.ok(t)
}

func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"tenant_id", "tenantid", true}, {"tenant_id", "tenantId", true}, {"tenant_id", "tenat_id", true},
		{"tenant_id", "tenant_di", true}, {"account", "acount", true}, {"tenant_id", "tennant_id", true},
		{"tenant_id", "tenant_ids", false}, {"tenant_id", "team_id", false}, {"user_id", "user_ip", false},
		{"id", "ip", false}, {"role", "roles", false}, {"tenant_id", "tenant", false}, {"org_id", "user_id", false},
		{"tenant_id", "agent_id", false}, {"user_id", "user_name", false}, {"first_name", "last_name", false},
	} {
		if misspelt(c.a, c.b) != c.want || misspelt(c.b, c.a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
