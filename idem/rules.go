package idem

import (
	"context"
	"net/http"
	"slices"

	"github.com/idemgen/idemgen/gen"
	"github.com/jackc/pgx/v5/pgconn"
)

// errDeclared is a declared client error.
func errDeclared(p *Problem) *Error { return Fail(p.Status, p.Code, p.Title) }

// violation is what an error of PostgreSQL says about a rule.
type violation struct {
	code, schema, table, constraint string
}

// verdict is what a violation means.
type verdict struct {
	err    *Error
	intent *step // set for a conflict of the business intent
}

// overcomeRule answers a violated rule, declared or not; anything else is a
// fault.
func (s *Service) overcomeRule(ctx context.Context, inv *invocation, f *failure, pg *pgconn.PgError, tries *tries) *answer {
	found, err := inv.op.ruleOf(ctx, inv.pool, f.step, pg)
	switch {
	case err != nil: // which rule it is, is not known
		return s.lookUpOr(ctx, inv, errUnavailable(err))
	case found == nil:
		return s.fault(ctx, inv, f.err)
	case found.intent != nil:
		return s.conflict(ctx, inv, found.intent, f, found.err, tries)
	}
	if inv.op.Consumer.Topic != "" && found.err.mayPass() {
		return s.lookUpOr(ctx, inv, found.err) // its broker delivers it again
	}
	// Recorded even where it is not declared: rows decided, and the next attempt
	// could meet others, after the client was told not to try again.
	return s.declare(ctx, inv, found.err)
}

// ruleOf finds the rule that an error of PostgreSQL is about, nil if there is none.
func (op *operation) ruleOf(ctx context.Context, p *pool, at int, pg *pgconn.PgError) (*verdict, error) {
	v := violation{pg.Code, pg.SchemaName, pg.TableName, pg.ConstraintName}
	found := op.judgeViolation(at, v, matchDeclared, matchWritten)
	if found == nil && v.code[:2] == "23" && v.table != "" {
		root, err := partitionRootOf(ctx, p, v)
		if err != nil {
			return nil, err
		}
		// Only now is it known that the table is not a partition of a written one.
		found = op.judgeViolation(at, root, matchDeclared, matchWritten, matchReferencing)
	}
	if found == nil && isBadInput(v.code) {
		found = &verdict{err: errBadInput()}
	}
	return found, nil
}

// matcher is a kind of rule: what v means for the step, nil if it is none of these.
type matcher func(*step, violation) *verdict

// judgeViolation finds the rule of the step, or of any step, that v violates, of
// the kinds given; the first of them goes first.
func (op *operation) judgeViolation(at int, v violation, kinds ...matcher) *verdict {
	steps := op.steps
	// A Go function may run any statement, also those of other steps.
	if at != unknownStep && at < len(steps) && steps[at].Go == nil {
		steps = steps[at : at+1]
	}
	for _, match := range kinds {
		for i := range steps {
			if found := match(&steps[i], v); found != nil {
				return found
			}
		}
	}
	return nil
}

func matchDeclared(st *step, v violation) *verdict {
	if v.code == "IDM01" {
		if p := st.required(v.constraint); p != nil {
			return &verdict{err: errDeclared(p)}
		}
		return nil
	}
	var declared *Error
	for i, rule := range st.Errors {
		if rule.Constraint != "" && rule.Constraint == v.constraint || rule.SQLState != "" && rule.SQLState == v.code {
			declared = errDeclared(&st.Errors[i].Problem)
			break
		}
	}
	if st.Intent != nil && v.code == "23505" && st.Intent.Constraint == v.constraint {
		if declared == nil {
			declared = errIntentConflict()
		}
		return &verdict{err: declared, intent: st}
	}
	if declared == nil {
		return nil
	}
	return &verdict{err: declared}
}

// required is the problem that idem.refuse named: of the @require of that
// column, or of the @empty where no row had to undo the statement.
func (st *step) required(rule string) *Problem {
	if rule == emptyRule {
		return st.Empty.Problem
	}
	if at := slices.Index(st.RequireNames, rule); at >= 0 && at < len(st.Requires) {
		return &st.Requires[at]
	}
	return nil
}

// emptyRule can be no column's name without quotes of its own.
const emptyRule = "@empty"

// matchWritten judges constraints of the tables that the step writes.
func matchWritten(st *step, v violation) *verdict {
	if st.Go == nil && !slices.Contains(st.Writes, v.schema+"."+v.table) || v.table == "" {
		return nil
	}
	switch v.code {
	case "23503":
		if st.Delete {
			return &verdict{err: errStillReferenced()}
		}
		return &verdict{err: &Error{Status: http.StatusUnprocessableEntity, Code: "reference-not-found",
			Title: "A referenced resource does not exist"}}
	case "23505", "23P01":
		return &verdict{err: &Error{Status: http.StatusConflict, Code: "already-exists",
			Title: "Conflicts with an existing resource"}}
	case "23514", "23502":
		return &verdict{err: errBadInput()}
	}
	return nil
}

// matchReferencing: the foreign key of another table holds a row that the step
// would take away.
func matchReferencing(st *step, v violation) *verdict {
	if v.code == "23503" && len(st.Writes) > 0 {
		return &verdict{err: errStillReferenced()}
	}
	return nil
}

func errStillReferenced() *Error {
	return &Error{Status: http.StatusConflict, Code: "still-referenced", Title: "Still referenced by another resource"}
}

func errBadInput() *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: "invalid-value", Title: "Invalid value",
		Detail: "The database refuses one of the values."}
}

func errIntentConflict() *Error {
	return &Error{Status: http.StatusConflict, Code: "intent-conflict", Title: "Already done",
		Detail: "There is a resource for this intent, made under another key."}
}

// partitionRootOf renames a violation on a partition to the table that was
// declared: names of a partition's indexes are its own.
func partitionRootOf(ctx context.Context, p *pool, v violation) (violation, error) {
	results, err := p.sendAside(ctx, partitionRoot.with([]byte(v.constraint), []byte(v.schema), []byte(v.table)))
	if err != nil || len(results[0].rows) == 0 {
		return v, err
	}
	row := results[0].rows[0]
	root := violation{v.code, string(row[0]), string(row[1]), v.constraint}
	if len(row[2]) > 0 {
		root.constraint = string(row[2])
	}
	return root, nil
}

var partitionRoot = newQuery(gen.PartitionRoot)
