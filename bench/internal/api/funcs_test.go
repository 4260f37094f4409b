package api_test

import (
	"testing"

	"github.com/idemgen/idemgen/bench/internal/api"
	"github.com/idemgen/idemgen/bench/internal/steps"
)

func init() {
	api.ConformanceFuncs = func(testing.TB) api.Funcs {
		return api.Funcs{RecordPayment: steps.RecordPayment}
	}
}
