package idem

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Headers of one connection or one client, where the SQL of one statement has
// them all the same: no client gets them, neither at first nor by a replay.
func TestCase_replay_2_one_statement(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, name := range unfit {
		listed = append(listed, "'"+strings.ToLower(name)+"', 'never'")
	}
	object := "jsonb_build_object(" + strings.Join(listed, ", ") + ", 'Location', '/x')"
	fused, verbatim := createPayment("Create", patience, true), takeJob()
	fused.SQL = strings.ReplaceAll(fused.SQL, "jsonb_build_object('Location', '/v1/payments/' || d.id)", object)
	verbatim.SQL = strings.Replace(verbatim.SQL, "THEN $4::jsonb END AS headers", "THEN $4::jsonb ELSE "+object+" END AS headers", 1)
	s := newOddShop(t, fused, verbatim)
	for _, op := range []*Operation{fused, verbatim} {
		first, again := s.post(op.Name, "k", bodyFor(op.Name)), s.post(op.Name, "k", bodyFor(op.Name))
		wantStatus(t, first, op.Status)
		sameAnswer(t, first, again)
		for _, header := range []http.Header{first.Header(), again.Header()} {
			if header.Get("Location") != "/x" {
				t.Errorf("%s: %v", op.Name, header)
			}
			for name, values := range header {
				if slices.Contains(values, "never") {
					t.Errorf("%s: %s is sent", op.Name, name)
				}
			}
		}
	}
}
