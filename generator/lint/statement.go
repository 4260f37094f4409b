package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// sessionFunctions leave something behind on the connection, or read what was.
var sessionFunctions = []string{"pg_advisory_lock", "pg_advisory_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_lock_shared",
	"pg_advisory_unlock", "pg_advisory_unlock_all", "lastval", "currval"}

// sessions finds statements that count on having a connection of their own.
func (c *checker) sessions(op *model.Operation) {
	for _, s := range statements(op) {
		if name := SessionFunction(s.Query.SQL); name != "" {
			c.warn(op, diag.RiskSession, s.Query.Pos, fmt.Sprintf("%s calls %s, whose effect outlives the transaction on a connection that others get", s.Query.Name, name),
				"use what ends with the transaction: pg_advisory_xact_lock, set_config(…, true), RETURNING")
		}
	}
}

// SessionFunction is the first function in a statement that needs a session of
// its own, "" for none.
func SessionFunction(sql string) string {
	tokens, err := sqltext.Tokens(sql)
	if err != nil {
		return ""
	}
	tokens = slices.DeleteFunc(tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.TokenComment })
	for i, t := range tokens {
		name := strings.ToLower(strings.Trim(t.In(sql), `"`))
		called := i+1 < len(tokens) && tokens[i+1].In(sql) == "("
		if called && (slices.Contains(sessionFunctions, name) || name == "set_config" && lastsLong(sql, tokens[i+2:])) {
			return name
		}
	}
	return ""
}

// lastsLong reports whether the arguments of set_config end in false.
func lastsLong(sql string, args []sqltext.Token) bool {
	depth := 1
	for i, t := range args {
		switch t.In(sql) {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			return i > 0 && strings.EqualFold(args[i-1].In(sql), "false")
		}
	}
	return false
}

// lists finds a :many that gives every row that there is.
func (c *checker) lists(op *model.Operation) {
	for _, s := range statements(op) {
		if s.Query.Command != "many" || s.Query.Shape.Kind != model.Select || !answers(op, s) {
			continue
		}
		stmt, err := sqltext.Parse(s.Query.SQL)
		if err != nil || stmt.Limit != nil || stmt.From == nil && len(stmt.SetOps) == 0 || s.Query.Shape.RowLocks {
			continue
		}
		c.warn(op, diag.RiskUnbounded, s.Query.Pos, fmt.Sprintf("%s has no LIMIT: the answer grows with the table", s.Query.Name),
			fmt.Sprintf("page it: ORDER BY a unique column, a lower bound that the client sends, LIMIT @size; or take the risk: --allow %s:%s", diag.RiskUnbounded, op.Name))
	}
}

// answers reports whether a step's rows are in the response.
func answers(op *model.Operation, s *model.Step) bool { return inResponse(op.Response, s.Name) }

func inResponse(r model.Response, step string) bool {
	return r.Step == step || slices.ContainsFunc(r.Members, func(m model.ResponseMember) bool { return inResponse(m.Value, step) })
}

// secretWords are parts of names of columns that hold what nobody else may read.
var secretWords = []string{"secret", "password", "passwd", "token", "api_key", "apikey", "private_key", "credential", "otp", "cvv", "cvc", "pin"}

// secrets finds answers that are kept in clear although they hold a secret.
func (c *checker) secrets(op *model.Operation) {
	if isRead(op) || !op.Key.Protects() || !op.Policy.RecordBody || op.Policy.Sealed {
		return
	}
	for _, s := range op.Steps {
		if s.Query == nil || !answers(op, s) {
			continue
		}
		for _, col := range s.Query.Columns {
			if !secret(col) || slices.Contains(s.Omit, col.Name) {
				continue
			}
			c.warn(op, diag.RiskKeptSecret, s.Pos, fmt.Sprintf("the answer holds %s, and its record keeps it in clear for %s", col.Name, op.Policy.Success),
				fmt.Sprintf("@omit %s, or @policy record=none or record=sealed; or, if it is none: --allow %s:%s", col.Name, diag.RiskKeptSecret, op.Name))
		}
	}
}

// secret reports whether a column is named like a secret: a word of its name,
// or a pair of them, is one. A time or a number of one is none.
func secret(col model.Column) bool {
	if col.Type.Kind != model.KindText && col.Type.Kind != model.KindBytea && col.Type.Kind != model.KindUUID {
		return false
	}
	name := "_" + strings.ToLower(col.Name) + "_"
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, "_"+w+"_") })
}
