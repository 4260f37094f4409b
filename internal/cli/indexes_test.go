package cli

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/internal/cli/doctor"
)

// TestExplanationOfMissingIndexesIsTrue: after the right example of IDEM084 the
// index is there, after the wrong one it is not.
func TestExplanationOfMissingIndexesIsTrue(t *testing.T) {
	url := idemtest.URL(t, "CREATE TABLE public.payments (tenant_id text NOT NULL, order_id text NOT NULL)")
	pool := idemtest.Open(t, url, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["search_path"] = "public" })
	intent := &model.Intent{Table: model.TableName{Name: "payments"}, Index: "payments_tenant_id_order_id_intent"}
	svc := &model.Service{Operations: []*model.Operation{{Name: "CreatePayment", Steps: []*model.Step{{Intent: intent}}}}}
	e, _ := diag.Explain(diag.RiskIndex)
	for _, c := range []struct {
		sql  string
		want int
	}{{e.Right, 0}, {e.Wrong, 1}} {
		if _, err := pool.Exec(t.Context(), c.sql); err != nil {
			t.Fatal(err)
		}
		lacks, err := doctor.Indexes(t.Context(), pool, svc)
		if err != nil || len(lacks) != c.want {
			t.Errorf("after %s: %v %v", c.sql, lacks, err)
		}
	}
}
