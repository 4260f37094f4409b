package diag

// explainSQL explains what can be wrong with migrations and queries.
func explainSQL() []Explanation {
	return []Explanation{
		{
			Code: MigrationForm, Title: "a migration that can't be read",
			Meaning: "idemgen reads the Up part of every goose migration, to know tables, constraints and indexes. A file without a number, without `-- +goose Up`, with a StatementBegin that never ends, or with SQL that PostgreSQL's grammar refuses can't be read. Types and tables made inside a DO block are not seen: make them with plain statements.",
			Wrong:   "DO $$ BEGIN CREATE TYPE payment_status AS ENUM ('new'); END $$;",
			Right:   "CREATE TYPE payment_status AS ENUM ('new');",
		},
		{
			Code: MigrationOrder, Title: "goose and sqlc would read the migrations in different orders",
			Meaning: "goose applies migrations by number, sqlc reads them by file name. With 9_x.sql and 10_y.sql the two differ. Give the numbers the same width.",
			Wrong:   "9_accounts.sql, 10_payments.sql",
			Right:   "00009_accounts.sql, 00010_payments.sql",
		},
		{
			Code: CatalogUnknown, Title: "a table, column or type that no migration makes",
			Meaning: "A statement, an annotation, or a constraint or index in a migration names something that is not in the schema as the migrations make it.",
			Wrong:   "-- @intent payment (tenant_id, order_id)",
			Right:   "-- @intent payments (tenant_id, order_id)",
		},
		{
			Code: QuerySyntax, Title: "SQL that PostgreSQL refuses",
			Meaning: "The text is not valid SQL: an unclosed string, comment or dollar quote, a missing semicolon at the end, or a syntax error.",
			Wrong:   "SELECT 'it's gone';",
			Right:   "SELECT 'it''s gone';",
		},
		{
			Code: QueryCorrupt, Title: "SQL that sqlc would change silently",
			Meaning: "sqlc removes every line that begins with -- or #, also inside a string, and every line that begins with /* and ends with */, with all that stands between. It takes `=@x` for an operator `=@`, and breaks on a second cast, `@x::a::b`: write `(@x::a)::b`. The statement would compile and do something else.",
			Wrong:   "SELECT meta\n#>> '{a}' FROM t WHERE id =@id;",
			Right:   "SELECT meta #>> '{a}'\nFROM t WHERE id = @id;",
		},
		{
			Code: QueryUnsupport, Title: "SQL that can't become an operation",
			Meaning: "MERGE, sqlc.slice, parameters without a name, and values whose Go type is interface{} have no safe form here.",
			Wrong:   "SELECT id FROM payments WHERE id IN (sqlc.slice('ids'));",
			Right:   "SELECT id FROM payments WHERE id = ANY(@ids::bigint[]);",
		},
		{
			Code: NameCollision, Title: "names that meet",
			Meaning: "Two names become the same Go name, or a name is reserved: tables, CTEs and columns that begin with idem_, query names like Ctx, String, Type, WithTx, and parameters like @ctx, @err or @rows where sqlc passes them as plain arguments of a method.",
			Wrong:   "WITH idem_done AS (SELECT 1) SELECT * FROM idem_done;",
			Right:   "WITH finished AS (SELECT 1) SELECT * FROM finished;",
		},
		{
			Code: TypeUnsupported, Title: "a type without a JSON form",
			Meaning: "Only the types of the table `SQL to JSON` can stand in a request or a response. Cast the value, leave the column out, or bind the parameter to something the service makes.",
			Wrong:   "SELECT id, location FROM shops;          -- location is a point",
			Right:   "SELECT id, location::text AS location FROM shops;",
		},
		{
			Code: NullabilityRisk, Title: "a column that may be null though sqlc says it is not",
			Meaning: "sqlc takes columns of a sub-select, a function or a parenthesised join on the outer side of a LEFT, RIGHT or FULL JOIN for NOT NULL, and so a cast or an expression of any such column, sqlc.embed, and what UPDATE and DELETE return of a join. The first null would break the response's schema and be an error in Go. Give the value that stands for it, or read the columns of a WITH, which sqlc knows to be nullable.",
			Wrong:   "SELECT a.id, t.total FROM a LEFT JOIN (SELECT …) t ON true;",
			Right:   "SELECT a.id, coalesce(t.total, 0)::bigint AS total FROM a LEFT JOIN (SELECT …) t ON true;",
		},
		{
			Code: ParamBroken, Title: "a parameter that sqlc would break",
			Meaning: "To PostgreSQL's grammar, which sqlc asks, the @ of @name is an operator before a value, and weaker than + - * / % ^, AT TIME ZONE, COLLATE and [ ]. In `@a * 2` it stands before the whole of `a * 2`, and sqlc makes one parameter of that, with a name that is none, and cuts the text at a wrong place. Put such a parameter in parentheses, `(@a::bigint) * 2`, where a cast also says its type, or write `sqlc.arg(a)`. The @ stands directly before the name, and the name has no quotes and no dot; before anything else it is PostgreSQL's own operator, for which there is `abs(…)` or `OPERATOR(public.@)`. In `sqlc.arg(name)` a space may stand before the name, not behind it.",
			Wrong:   "SELECT id, (@basket_cents::bigint * @percent::int / 100)::bigint AS discount FROM coupons;",
			Right:   "SELECT id, ((@basket_cents::bigint) * (@percent::int) / 100)::bigint AS discount FROM coupons;",
		},
	}
}
