package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/payments/internal/api"
	"example.com/payments/internal/gateway"
	"example.com/payments/internal/refunds"
)

func init() {
	api.ConformanceFuncs = func(t testing.TB) api.Funcs {
		server := httptest.NewServer(&gateway.Fake{})
		t.Cleanup(server.Close)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		cards := &gateway.Client{URL: server.URL, HTTP: &http.Client{Transport: transport}}
		return api.Funcs{Refund: refunds.Refund, ChargeCard: cards.Charge, RefundCharge: cards.Refund}
	}
}
