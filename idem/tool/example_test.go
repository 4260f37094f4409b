package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/tool"
)

type tenant struct{ TenantID string }

// An agent's loop names its run and the step of its plan, which are the same after a
// restart.
func Example() {
	ctx, caller := context.Background(), tenant{"acme"}
	// In a service: svc.Tools().
	box, err := tool.New([]idem.Tool[tenant](nil), tool.Options{Secret: []byte("a secret of 16 bytes, or more")})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := box.Call(ctx, caller, tool.Call{
		Name:      "issue_invoice",
		Arguments: json.RawMessage(`{"order_id": "order-1", "amount": 1250, "currency": "EUR"}`),
		Meta:      tool.Meta{Session: "run-7", Step: "1"},
	})
	var refused *idem.ToolError
	if errors.As(err, &refused) {
		fmt.Println(refused.Problem.Code, "try again:", refused.Retryable)
		return
	}
	fmt.Println(string(result.Content))
	// Output: tool-unknown try again: false
}
