package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/idemgen/idemgen/bench/faults/internal/api"
	"github.com/idemgen/idemgen/bench/faults/internal/steps"
)

// The service keeps its promises where nothing is broken, too.
func init() {
	api.ConformanceFuncs = func(t testing.TB) api.Funcs {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "receipt of ", r.Header.Get("Idempotency-Key"))
		}))
		t.Cleanup(other.Close)
		return api.Funcs{Judge: steps.Judge, Tell: steps.Teller{URL: other.URL}.Tell}
	}
}
