package run

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	rides "github.com/idemgen/idemgen/generator/render/testdata/golden/rides"
	"github.com/idemgen/idemgen/idem"
)

var rideOptions = rides.Options{
	Caller: func(*http.Request) (rides.Caller, error) { return rides.Caller{TenantID: "t1"}, nil },
	Go: rides.Funcs{
		ChargeCard: func(context.Context, string, rides.ChargeCardInput) (rides.ChargeCardOutput, error) {
			return rides.ChargeCardOutput{}, nil
		},
		RefundCharge: func(context.Context, string, rides.ChargeCardInput, rides.ChargeCardOutput) error { return nil },
		Notify:       func(context.Context, string, rides.ChargeRideInput) error { return nil },
		Apologise:    func(context.Context, string, rides.ChargeRideInput) error { return nil },
	},
	Completer: idem.Completer{Parallel: 1},
}

// New names each function that is missing, of calls and of what takes them back.
func TestNewNamesMissingCalls(t *testing.T) {
	if _, err := rides.New(lazyPool(t), rideOptions); err != nil {
		t.Fatal(err)
	}
	options := rideOptions
	options.Go = rides.Funcs{}
	_, err := rides.New(lazyPool(t), options)
	for _, name := range []string{"ChargeCard", "RefundCharge", "Notify", "Apologise"} {
		if err == nil || !strings.Contains(err.Error(), "Options.Go."+name+" is nil") {
			t.Errorf("%s is not missed: %v", name, err)
		}
	}
}

// An async operation brings the route of its status, and meets none that is there.
func TestMountStatus(t *testing.T) {
	svc, err := rides.New(lazyPool(t), rideOptions)
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	if err := svc.Mount(r, rides.CreatePayout); err != nil {
		t.Fatal(err)
	}
	got := routes(t, r)
	slices.Sort(got)
	want := []string{"GET /v1/accounts/{account}/payouts/{event_id}", "POST /v1/accounts/{account}/payouts"}
	if !slices.Equal(got, want) {
		t.Errorf("routes %v", got)
	}
	r = chi.NewRouter()
	r.Get("/v1/accounts/{id}/payouts/{payout}", func(http.ResponseWriter, *http.Request) {})
	if err := svc.Mount(r); err == nil || !strings.Contains(err.Error(), "GET /v1/accounts/{account}/payouts/{event_id} already, where its status is") {
		t.Errorf("the route was taken: %v", err)
	}
	if got := routes(t, r); len(got) != 1 {
		t.Errorf("a refused Mount left routes: %v", got)
	}
	if svc.StatusHandler(rides.CreatePayout) == nil {
		t.Error("no handler of the status")
	}
}
