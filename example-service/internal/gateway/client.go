package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/idemgen/idemgen/idem"

	"example.com/payments/internal/api"
)

// Client calls a card gateway. Its methods are the functions of the `call:` step
// of ChargeRide.
type Client struct {
	URL  string       // of the gateway, as in http://127.0.0.1:8090
	HTTP *http.Client // http.DefaultClient if nil
}

// Charge charges a card. Key is what the gateway knows the charge by: however often
// it is asked, it charges once.
func (c *Client) Charge(ctx context.Context, key string, in api.ChargeCardInput) (api.ChargeCardOutput, error) {
	var charged struct {
		ID string `json:"id"`
	}
	charge := Charge{Amount: in.Amount, Currency: in.Currency, Card: in.Card, Reference: fmt.Sprint("ride-", in.Ride)}
	status, err := c.post(ctx, "/charges", key, charge, &charged)
	switch {
	case err != nil:
		return api.ChargeCardOutput{}, err
	case status == http.StatusPaymentRequired: // a definite answer
		return api.ChargeCardOutput{}, idem.Fail(http.StatusPaymentRequired, api.CodeCardDeclined, "")
	case status != http.StatusCreated || charged.ID == "":
		return api.ChargeCardOutput{}, fmt.Errorf("the gateway answers %d", status)
	}
	return api.ChargeCardOutput{ChargeID: charged.ID}, nil
}

// Refund gives a charge back.
func (c *Client) Refund(ctx context.Context, key string, _ api.ChargeCardInput, out api.ChargeCardOutput) error {
	status, err := c.post(ctx, "/charges/"+out.ChargeID+"/refund", key, nil, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the gateway answers %d", status)
	}
	return err
}

// post sends a request. Where no connection was made, the error says that nothing
// was done.
func (c *Client) post(ctx context.Context, path, key string, body, into any) (int, error) {
	var text io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		text = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, text)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return 0, idem.NotDone(err)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // it was read, or it failed
	if into != nil && res.StatusCode < 300 {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			return 0, fmt.Errorf("the gateway's answer can't be read: %w", err)
		}
	}
	return res.StatusCode, nil
}
