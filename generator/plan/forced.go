package plan

// forced is the section for a request that asks to run again (X-Force-Retry):
// the user's statement as it stands, whatever record there is, and its answer in
// the record's place. The runtime takes the key's lock in a statement before this
// one, so forced runs come one after the other and each sees what the one before
// it did. Until the commit the old record is what duplicates are answered with.
func (p *planner) forced(u *unit) Statement {
	ps := u.userParams()
	scope, digest, key, print := ps.runtime(ArgScope), ps.runtime(ArgDigest), ps.runtime(ArgKey), ps.runtime(ArgFingerprint)
	sql := p.ungated(u, ps, nextAttempt(scope, digest))
	record := u.recordedCTE(scope, digest, key, print)
	record.why = "The record before stays until this one takes its place."
	record.query += `
ON CONFLICT (scope, digest) DO UPDATE SET
  fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers, body = excluded.body,
  attempt = k.attempt + 1, created_at = excluded.created_at, expires_at = excluded.expires_at`
	if u.takesEmpty() {
		record.why += "\nA run that did nothing replaces none."
		record.query += "\nWHERE k.expires_at <= clock_timestamp() OR (SELECT a.hit FROM idem_answer a)"
	}
	sql.ctes = append(sql.ctes, record)
	return Statement{Name: "forced", SQL: ps.comment() + sql.text(), Args: ps.args, Results: Results{Answer: true}}
}
