package plan

import (
	"strings"
	"time"
)

// fused is the section "keyed" where claim, business SQL, answer and record
// are one statement.
func (p *planner) fused(u *unit) Statement {
	ps := u.userParams()
	scope, digest, key, print := ps.runtime(ArgScope), ps.runtime(ArgDigest), ps.runtime(ArgKey), ps.runtime(ArgFingerprint)
	a := p.answer(u, ps)
	user := u.userCTE("idem_done", u.gated()...)
	ctes := []cte{priorCTE(scope, digest)}
	if wait := p.op.Policy.Wait; wait > 0 {
		ctes = append(ctes, waitGate(wait))
	} else {
		ctes = append(ctes, lockGate(ps.runtime(ArgLock)))
	}
	ctes = append(ctes, user.ctes...)
	ctes = append(ctes, a.cte(true))
	ctes = append(ctes, u.eventCTEs(ps, "idem_done", "")...)
	ctes = append(ctes, u.recordedCTE(scope, digest, key, print))
	// An expired record is rare: making way for it is a statement of the
	// runtime's, and no part of every request.
	sql := withQuery{ctes: ctes, main: firstAnswer + `
UNION ALL
SELECT p.replayed, p.status, p.headers, p.body, p.fingerprint
FROM idem_prior p`}
	return Statement{Name: "keyed", SQL: ps.comment() + sql.text(), Args: ps.args, Results: Results{Answer: true}}
}

// takesEmpty reports whether the answer needs the @empty problem.
func (u *unit) takesEmpty() bool { return u.mayBeEmpty() && !u.step.Empty.Fine && !u.undoesEmpty() }

// undoesEmpty reports whether no row must undo the statement: its common table
// expressions have written by then.
func (u *unit) undoesEmpty() bool {
	return u.stmt.ModifyingCTEs() && u.mayBeEmpty() && !u.step.Empty.Fine
}

func priorCTE(scope, digest string) cte {
	return cte{name: "idem_prior", materialized: true,
		why: "The record. An expired one is answered as NULL: it is deleted, and this statement sent again.",
		query: "SELECT CASE WHEN k.expires_at > clock_timestamp() THEN true END AS replayed,\n" +
			"  k.status, k.headers, k.body, k.fingerprint\nFROM idem.keys k\nWHERE k.scope = " + scope + " AND k.digest = " + digest}
}

func (u *unit) recordedCTE(scope, digest, key, print string) cte {
	return cte{name: "idem_recorded",
		why: "A twin that won makes this fail on the primary key: all of this statement is undone.",
		query: "INSERT INTO idem.keys AS k (scope, digest, operation, key, fingerprint, status, headers, body, expires_at)\n" +
			"SELECT " + strings.Join([]string{scope, digest, u.p.operationLiteral(), key, print}, ", ") + ", a.status, a.headers,\n" +
			"  " + u.storedBody() + ",\n" +
			"  clock_timestamp() + " + u.lifetime() + "\nFROM idem_answer a"}
}

// waitGate opens where there is no record. It sets the limit of the wait for a
// running twin before anything can block.
func waitGate(wait time.Duration) cte {
	return gateCTE("A running twin is waited for so long; the setting ends with the transaction.",
		"SELECT NOT EXISTS (SELECT FROM idem_prior)\n  AND "+lockTimeout(wait)+" IS NOT NULL AS open")
}

// lockGate opens where there is no record and no running twin. CASE keeps the
// order: a replay takes no lock.
func lockGate(lock string) cte {
	return gateCTE("A running twin holds this lock until its transaction ends. A replay needs none.",
		"SELECT CASE WHEN NOT EXISTS (SELECT FROM idem_prior)\n  THEN pg_try_advisory_xact_lock("+lock+"::bigint) ELSE false END AS open")
}

func gateCTE(why, query string) cte {
	return cte{name: "idem_gate", materialized: true, why: "The one decision of every write below.\n" + why, query: query}
}
