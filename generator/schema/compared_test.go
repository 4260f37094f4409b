package schema

import (
	"slices"
	"testing"
)

func TestOnlyCompared(t *testing.T) {
	cat := mustBuild(t, shop)
	tests := []struct {
		sql  string
		want []int
	}{
		{"UPDATE payments SET amount = $1 WHERE note = $2", []int{2}},
		{"DELETE FROM payments WHERE note < $1 OR note LIKE $2 OR note ~ $3::text", []int{1, 2, 3}},
		{"DELETE FROM payments WHERE note IS NOT DISTINCT FROM $1 AND note IS DISTINCT FROM $2", []int{1, 2}},
		{"DELETE FROM payments WHERE note = ANY($1::text[]) AND note IN ($2, $3) AND note NOT ILIKE $4 AND amount BETWEEN $5 AND $6", []int{1, 2, 3, 4, 5, 6}},
		{"DELETE FROM payments WHERE (note, amount) = ($1, $2) AND note LIKE $3 || '%' AND amount > $4 + 1", []int{1, 2, 3, 4}},
		{"SELECT id, (note = $1)::boolean AS ok FROM payments p WHERE EXISTS (SELECT FROM lines l WHERE l.qty >= $2)", []int{1, 2}},
		{"SELECT id FROM payments WHERE $1 IN (SELECT tenant_id FROM accounts)", []int{1}},
		{"SELECT id FROM payments WHERE note = $1 COLLATE \"C\"", []int{1}},
		{"SELECT id FROM payments WHERE $1::text IS NULL OR note = $1", nil},
		{"SELECT id FROM payments WHERE note = coalesce($1, note) AND (note = $2) IS NOT FALSE", nil},
		{"UPDATE payments SET note = $1 WHERE note = $1", nil},
		{"UPDATE payments SET note = CASE WHEN note = $1 THEN $2 ELSE note END", nil},
		{"INSERT INTO payments (order_id, note) VALUES ($1, $2)", nil},
		{"SELECT id FROM payments WHERE lower(note) = lower($1) LIMIT $2", nil},
	}
	for _, tt := range tests {
		if got := analyzed(t, cat, tt.sql).Compared; !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got  %v\n want %v", tt.sql, got, tt.want)
		}
	}
}
