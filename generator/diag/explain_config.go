package diag

// explainConfig explains what can be wrong with files and configuration.
func explainConfig() []Explanation {
	return []Explanation{
		{
			Code: ConfigSyntax, Title: "not valid YAML",
			Meaning: "idemgen.yaml or an endpoint spec could not be read as YAML. The usual causes are a tab used for indentation, a value with a colon or a leading @ that needs quotes, and a list that is indented differently from its siblings.",
			Wrong:   "bind:\n\ttenant_id: caller.tenant_id",
			Right:   "bind:\n  tenant_id: caller.tenant_id",
		},
		{
			Code: ConfigKey, Title: "unknown or repeated key",
			Meaning: "A key that idemgen does not know, or one that stands twice in the same mapping. A key that was silently ignored would look like a setting that works, so it is an error.",
			Wrong:   "migratons: db/migrations",
			Right:   "migrations: db/migrations",
		},
		{
			Code: ConfigValue, Title: "a value that can't be",
			Meaning: "The key is right, its value is not: another kind of value is expected, or the value is out of range. Durations are written like 24h, 30s or 1h30m, sizes like 1MiB.",
			Wrong:   "defaults: {timeout: 30}",
			Right:   "defaults: {timeout: 30s}",
		},
		{
			Code: ConfigMissing, Title: "a required key or file is missing",
			Meaning: "idemgen.yaml needs version, migrations, out and scope. The files and folders that it names must exist.",
			Wrong:   "version: 1\nout: internal/api",
			Right:   "version: 1\nmigrations: db/migrations\nout: internal/api\nscope: caller.tenant_id",
		},
		{
			Code: SqlcFailed, Title: "sqlc reported an error",
			Meaning: "idemgen runs sqlc first and shows its messages. Correct the SQL or the schema until `sqlc generate` is content. `column reference \"id\" is ambiguous` also comes where PostgreSQL would know: sqlc looks through WITH, so write the table's name ahead of the column, as in payments.id.",
			Wrong:   "-- name: GetPayment :one\nSELECT id FROM payment WHERE id = @id;  -- the table is payments",
			Right:   "-- name: GetPayment :one\nSELECT id FROM payments WHERE id = @id;",
		},
		{
			Code: SqlcConfig, Title: "sqlc.yaml can't be used",
			Meaning: "idemgen uses the entries of sqlc.yaml that generate Go for PostgreSQL with pgx/v5. There is none, or an entry can't be read.",
			Wrong:   "gen:\n  go: {package: db, out: internal/db}",
			Right:   "gen:\n  go: {package: db, out: internal/db, sql_package: pgx/v5}",
		},
		{
			Code: GoPackage, Title: "the package that sqlc emitted can't be read",
			Meaning: "The exact Go types come from the package that sqlc wrote. With --no-sqlc it must be there already and be up to date.",
			Wrong:   "idemgen generate --no-sqlc   (before sqlc ever ran)",
			Right:   "idemgen generate",
		},
		{
			Code: EditedFile, Title: "an emitted file was edited by hand",
			Meaning: "The file differs from what idemgen wrote, as idemgen.lock has it. Writing it again would lose the edit, so nothing was written. Undo the edit, or move the change to the annotation, the query or the template; or take the files of the operation by idemgen eject.",
			Wrong:   "an edit in internal/api/create_payment.go",
			Right:   "the same change in db/queries/payments.sql, then idemgen generate",
		},
		{
			Code: ForeignFile, Title: "a file of another origin is in the way",
			Meaning: "idemgen wants to write a path where a file stands that it did not write. Hand-written files are never overwritten. Rename that file, or choose another `out`.",
			Wrong:   "out: internal/api     # holds a hand-written api.go",
			Right:   "out: internal/httpapi",
		},
		{
			Code: NotYet, Title: "not in this version yet",
			Meaning: "The word is part of the language, but this version of idemgen does not do it yet. It is refused, because ignoring it would give a service without it. So it is with the key request of an endpoint.",
			Wrong:   "request: {reason: text}",
			Right:   "the endpoint without request, whose members are those that its steps bind",
		},
		{
			Code: SpecForm, Title: "malformed endpoint spec",
			Meaning: "An endpoint spec is a YAML file with one key, endpoints, a mapping from operation names to endpoints. An endpoint has http and steps, and what a step may hold is fixed.",
			Wrong:   "endpoints:\n  CreateTransfer:\n    steps: LockAccounts",
			Right:   "endpoints:\n  CreateTransfer:\n    http: POST /v1/transfers 201\n    steps:\n      - query: LockAccounts",
		},
	}
}
