-- stepped, 3 round trips: the table ruled has rules, which PostgreSQL refuses inside WITH

-- statement: step.Ruled
-- $1 name: body.name
INSERT INTO ruled (name) VALUES ($1) RETURNING
  (SELECT (SELECT row_to_json(idem_row)::text FROM (
    SELECT s.n, s.column_2
  ) AS idem_row) AS body
  FROM (SELECT id AS n, name || '!') AS s (n, column_2));
