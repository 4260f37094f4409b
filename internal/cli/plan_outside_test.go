package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPlanShowsCallsAndEvents of the example service: what its statements don't.
func TestPlanShowsCallsAndEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sqlc")
	}
	for name, want := range map[string]string{
		"ChargeRide":    "call: ChargeCard by ChargeCard; committed before it: InsertRide; lease 10s; unknown: retry; undo: RefundCharge",
		"CreatePayout":  "async: answered 202",
		"CreatePayment": "event: payment.created from CreatePayment, ordered by order_id",
	} {
		code, stdout, stderr := exec(t, Env{}, "plan", name, "-C", "../../example-service")
		if code != exitOK || !strings.Contains(stdout, "\n"+want) {
			t.Errorf("%s: %d, no %q in\n%s%s", name, code, want, stdout, stderr)
		}
	}
	_, stdout, _ := exec(t, Env{}, "plan", "ChargeRide", "-C", "../../example-service", "--format", "json")
	var out planJSON
	if err := json.Unmarshal([]byte(stdout), &out); err != nil || len(out.Calls) != 1 || out.Calls[0].Undo != "RefundCharge" || out.Async {
		t.Errorf("%v %+v", err, out)
	}
}
