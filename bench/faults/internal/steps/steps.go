// Package steps holds the Go functions of the service that is broken.
package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/idemgen/idemgen/bench/faults/internal/api"
	"github.com/idemgen/idemgen/bench/faults/internal/db"
	"github.com/idemgen/idemgen/idem"
)

// Refused begins references that are refused.
const Refused = "refuse"

// Judge is the Go step of Decide: it writes a line, and refuses some references.
func Judge(ctx context.Context, q *db.Queries, in api.JudgeInput) (api.JudgeOutput, error) {
	line, err := q.InsertLine(ctx, db.InsertLineParams{TenantID: in.TenantID, Reference: in.Reference, EffectID: in.EffectID})
	if err != nil {
		return api.JudgeOutput{}, err
	}
	if strings.HasPrefix(in.Reference, Refused) {
		return api.JudgeOutput{}, idem.Fail(http.StatusPaymentRequired, api.CodeRefused, "")
	}
	return api.JudgeOutput{LineID: line.ID}, nil
}

// Teller tells the system at a URL of references.
type Teller struct{ URL string }

// Tell is the call of Reach. The receipt is what the other system answers.
func (t Teller) Tell(ctx context.Context, key string, in api.TellInput) (api.TellOutput, error) {
	body, err := json.Marshal(map[string]string{"reference": in.Reference})
	if err != nil {
		return api.TellOutput{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return api.TellOutput{}, err
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return api.TellOutput{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was read, or it failed
	receipt, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the receiver answers %d", res.StatusCode)
	}
	return api.TellOutput{Receipt: string(receipt)}, err
}
