package api_test

import (
	"testing"

	"example.com/payments/internal/api"
	"example.com/payments/internal/refunds"
)

func init() {
	api.ConformanceFuncs = func(testing.TB) api.Funcs { return api.Funcs{Refund: refunds.Refund} }
}
