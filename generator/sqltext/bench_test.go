package sqltext

import "testing"

const benchSQL = `WITH a AS (SELECT id FROM accounts WHERE tenant = $1 AND id = ANY($2::bigint[]) FOR UPDATE)
INSERT INTO payments (tenant_id, order_id, amount, currency, note)
SELECT $1, x.order_id, x.amount::numeric(12,2), coalesce($3, 'EUR'), lower(x.note)
FROM jsonb_to_recordset($4::jsonb) AS x(order_id text, amount numeric, note text)
WHERE EXISTS (SELECT 1 FROM a WHERE a.id = x.amount)
ON CONFLICT (tenant_id, order_id) DO UPDATE SET amount = excluded.amount
RETURNING id, order_id, amount, currency, status, created_at`

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse(benchSQL); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTablesUsed(b *testing.B) {
	for b.Loop() {
		if _, err := TablesUsed(benchSQL); err != nil {
			b.Fatal(err)
		}
	}
}
