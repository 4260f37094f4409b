package plan

import (
	"strings"
)

// prior is the section that looks for a record.
func (p *planner) prior(*unit) Statement {
	ps := &params{}
	scope, digest := ps.runtime(ArgScope), ps.runtime(ArgDigest)
	sql := "SELECT true AS replayed, k.status, k.headers::text AS headers, k.body, k.fingerprint\n" +
		"FROM idem.keys k\nWHERE k.scope = " + scope + " AND k.digest = " + digest + " AND k.expires_at > clock_timestamp();\n"
	return Statement{Name: "prior", SQL: ps.comment() + sql, Args: ps.args, Results: Results{Answer: true}}
}

// claim is the section that inserts the key. It fails where a record or a
// running twin is. The record's end is set here, so that the update at the end
// touches no indexed column.
func (p *planner) claim(*unit) Statement {
	ps := &params{}
	scope, digest, key, print := ps.runtime(ArgScope), ps.runtime(ArgDigest), ps.runtime(ArgKey), ps.runtime(ArgFingerprint)
	sql := withQuery{
		ctes: []cte{waitLimit(p.op.Policy.Wait), goneCTE(scope, digest)},
		main: "INSERT INTO idem.keys (scope, digest, operation, key, fingerprint, status, expires_at)\n" +
			"SELECT " + strings.Join([]string{scope, digest, p.operationLiteral(), key, print}, ", ") + ", 0,\n" +
			"  clock_timestamp() + " + interval(p.op.Policy.Success) + "\n" +
			"WHERE (SELECT v FROM idem_lim) IS NOT NULL AND (SELECT count(*) FROM idem_gone) >= 0",
	}
	return Statement{Name: "claim", SQL: ps.comment() + sql.text(), Args: ps.args}
}

func goneCTE(scope, digest string) cte {
	return cte{name: "idem_gone",
		why: "An expired record makes way; one that was renewed meanwhile stays.",
		query: "DELETE FROM idem.keys k\nWHERE k.scope = " + scope + " AND k.digest = " + digest + " AND k.expires_at <= clock_timestamp()\n" +
			"  AND (SELECT v FROM idem_lim) IS NOT NULL\nRETURNING 1"}
}

// verbatim is the section "keyed" behind a claim: the user's statement as it
// stands, the answer, and the record completed.
func (p *planner) verbatim(u *unit) Statement {
	ps := u.userParams()
	scope, digest := ps.runtime(ArgScope), ps.runtime(ArgDigest)
	sql := p.ungated(u, ps, "")
	set := []string{"status = a.status", "headers = a.headers", "body = " + u.storedBody()}
	policy := p.op.Policy
	why := ""
	if u.takesEmpty() && policy.ClientError != policy.Success {
		set = append(set, "expires_at = CASE WHEN a.hit THEN k.expires_at ELSE clock_timestamp() + "+interval(policy.ClientError)+" END")
	} else {
		why = "expires_at stays as it is, so no index is touched."
	}
	sql.ctes = append(sql.ctes, cte{name: "idem_recorded", why: why, query: "UPDATE idem.keys k\nSET " + strings.Join(set, ",\n  ") +
		"\nFROM idem_answer a\nWHERE k.scope = " + scope + " AND k.digest = " + digest})
	return Statement{Name: "keyed", SQL: ps.comment() + sql.text(), Args: ps.args, Results: Results{Answer: true}}
}

// unkeyed is the section for a request without a key: the answer alone.
func (p *planner) unkeyed(u *unit) Statement {
	ps := u.userParams()
	sql := p.ungated(u, ps, "")
	return Statement{Name: "unkeyed", SQL: ps.comment() + sql.text(), Args: ps.args, Results: Results{Answer: true}}
}

// ungated is the user's statement as it stands, its answer and its events, whose
// keys end in the SQL text attempt.
func (p *planner) ungated(u *unit, ps *params, attempt string) withQuery {
	a := p.answer(u, ps)
	sql := u.userCTE("idem_done")
	sql.ctes = append(sql.ctes, a.cte(false))
	sql.ctes = append(sql.ctes, u.eventCTEs(ps, "idem_done", attempt)...)
	sql.main = firstAnswer
	return sql
}
