package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/gen"
	"github.com/idemgen/idemgen/generator/schema"
)

// sweepVersion is that of the procedure. Where its text changes, so that a
// service should have the new one, the next number makes a migration for it.
const sweepVersion = 1

// sweep adds the migration that lets pg_cron sweep at a schedule, unless the
// latest one in the folder does, or the schedule is "".
func (m *migrationWriter) sweep(before schema.SweepMark, schedule string) error {
	if schedule == "" || before.Version == sweepVersion && before.Schedule == schedule {
		return nil
	}
	view, err := newSweepView(before, schedule)
	if err != nil {
		return err
	}
	if err := m.render("idem_sweep", "sweep.sql.tmpl", view); err != nil {
		return fmt.Errorf("the migration for pg_cron: %w", err)
	}
	return nil
}

// sweepView is what templates/migration/sweep.sql.tmpl prints.
type sweepView struct {
	Version    int
	Schedule   string
	Before     string // the schedule that this one replaces, "" for none
	Statements []string
}

func newSweepView(before schema.SweepMark, schedule string) (*sweepView, error) {
	keys, err := inProcedure(gen.SweepKeys, "since", "size")
	if err != nil {
		return nil, err
	}
	events, err := inProcedure(gen.SweepEvents, "since", "keep", "size")
	if err != nil {
		return nil, err
	}
	work, err := inProcedure(gen.SweepWork, "since", "size")
	if err != nil {
		return nil, err
	}
	return &sweepView{Version: sweepVersion, Schedule: schedule, Before: before.Schedule, Statements: []string{keys, events, work}}, nil
}

var parameter = regexp.MustCompile(`\$\d+`)

// lastRow is how the sweeper's statements end their list of results.
const lastRow = " FROM gone g"

// inProcedure makes a statement of the sweeper one of PL/pgSQL: variables in
// place of parameters, and the result in the variables deleted and last. So the
// procedure deletes as the sweeper does.
func inProcedure(query string, variables ...string) (string, error) {
	head, sql, _ := strings.Cut(query, "\n") // the head is sqlc's
	if !strings.HasPrefix(head, "-- name: ") || strings.Count(sql, lastRow) != 1 {
		return "", fmt.Errorf("the sweeper's statement is not of the form that a procedure can take: %s", head)
	}
	sql = parameter.ReplaceAllStringFunc(sql, func(p string) string {
		n, _ := strconv.Atoi(p[1:]) // digits
		return variables[n-1]
	})
	sql = strings.Replace(sql, lastRow, " INTO deleted, last"+lastRow, 1)
	return "    " + strings.ReplaceAll(strings.TrimSpace(sql), "\n", "\n    ") + ";", nil
}
