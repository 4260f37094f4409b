package plan

import "testing"

// The settings of the session section end with the transaction, whichever
// sections follow it: the next request on the connection, another tenant's, must
// not find them. PostgreSQL leaves an empty text rather than NULL.
func TestPitfall_28_SessionSettingsAreLocal(t *testing.T) {
	s := fresh(t, tables)
	const setting = "SELECT nullif(current_setting('app.tenant_id', true), '')"
	lines := step{name: "Line", command: "one", sql: "INSERT INTO lines VALUES (1, current_setting('app.tenant_id'), 1) RETURNING sku AS name", returns: "name text"}
	hook := watched()
	hook.sql = "INSERT INTO watched (name) VALUES (current_setting('app.tenant_id')) RETURNING name"
	other := lines
	other.name = "Other"
	fused, verbatim := plannedIn(t, session(), operation(t, "Line", forced, lines)), plannedIn(t, session(), operation(t, "Watched", forced, hook))
	tests := []struct {
		name     string
		op       *Operation
		sections []string
	}{
		{"fused", fused, []string{"keyed"}},
		{"fused, forced", fused, []string{"forced"}},
		{"verbatim", verbatim, []string{"prior", "claim", "keyed"}},
		{"verbatim, forced", verbatim, []string{"forced"}},
		{"direct", plannedIn(t, session(), operation(t, "Line", read, lines)), []string{"unkeyed"}},
		{"stepped", plannedIn(t, session(), operation(t, "Two", nil, lines, other)), []string{"step.Line", "step.Other"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{t, s.conn}
			s.exec("BEGIN")
			for _, section := range append([]string{"session"}, tt.sections...) {
				if _, err := s.send(tt.op.section(t, section), tt.name, values{"tenant_id": "t1"}); err != nil {
					t.Fatalf("%s: %v", section, err)
				}
			}
			s.equal(s.text(setting), "t1")
			s.exec("COMMIT")
			s.equal(s.text(setting), "<null>")
		})
	}
}
