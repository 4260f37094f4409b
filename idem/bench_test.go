package idem

import (
	"context"
	"fmt"
	"testing"
)

// What the runtime adds to the same insert: over Go, without HTTP.
func BenchmarkFused(b *testing.B) {
	ctx := context.Background()
	s := newShop(b, createPayment("Create", "2000ms", true))
	n := 0
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			n++
			var id int64
			err := s.pool.QueryRow(ctx, "INSERT INTO payments (tenant_id, order_id, amount, note) VALUES ($1, $2, $3, $4) RETURNING id",
				"t1", fmt.Sprint("o", n), int64(5), nil).Scan(&id)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n++
			if _, err := s.Call(ctx, "Create", []any{"t1"}, fmt.Sprint("k", n), []any{fmt.Sprint("o", n), int64(5), nil}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replay", func(b *testing.B) {
		key, order := fmt.Sprint("k", n), fmt.Sprint("o", n)
		for b.Loop() {
			if _, err := s.Call(ctx, "Create", []any{"t1"}, key, []any{order, int64(5), nil}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
