package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/webhook"
)

// mac is what the systems sign with.
func mac(secret, message string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(message))
	return h.Sum(nil)
}

// show prints what a verifier makes of a delivery.
func show(v idem.Verifier, body string, headers ...string) {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/system", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	d, err := v.Verify(r, []byte(body))
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	fmt.Printf("id %s, type %s, scope %q\n", d.ID, d.Type, d.Scope)
}

func ExampleStripe() {
	verifier := webhook.Stripe("whsec_new", webhook.WithSecrets("whsec_old"))

	body := `{"id": "evt_1", "type": "payment_intent.succeeded", "data": {"object": {"id": "pi_1"}}}`
	now := strconv.FormatInt(time.Now().Unix(), 10)
	show(verifier, body, "Stripe-Signature", "t="+now+",v1="+hex.EncodeToString(mac("whsec_old", now+"."+body)))
	show(verifier, body, "Stripe-Signature", "t="+now+",v1="+hex.EncodeToString(mac("whsec_guess", now+"."+body)))
	// Output:
	// id evt_1, type payment_intent.succeeded, scope ""
	// refused: webhook: no signature is one of the raw body by a known secret
}

// GitHub's action is in the document: `issues` becomes `issues.opened`.
func ExampleGitHub() {
	verifier := webhook.GitHub("secret", webhook.WithType(func(_ *http.Request, d idem.Delivery) (string, error) {
		var event struct{ Action string }
		if err := json.Unmarshal(d.JSON, &event); err != nil || event.Action == "" {
			return d.Type, err
		}
		return d.Type + "." + event.Action, nil
	}))

	body := `{"action": "opened", "issue": {"number": 7}}`
	show(verifier, body, "X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac("secret", body)),
		"X-GitHub-Delivery", "72d3162e", "X-GitHub-Event", "issues")
	// Output: id 72d3162e, type issues.opened, scope ""
}

// The shop is the tenant.
func ExampleShopify() {
	verifier := webhook.Shopify("client secret", webhook.WithScope(func(r *http.Request, _ idem.Delivery) (string, error) {
		return r.Header.Get("X-Shopify-Shop-Domain"), nil
	}))

	body := `{"id": 820982911946154508}`
	show(verifier, body, "X-Shopify-Hmac-Sha256", base64.StdEncoding.EncodeToString(mac("client secret", body)),
		"X-Shopify-Event-Id", "98880550", "X-Shopify-Topic", "orders/create", "X-Shopify-Shop-Domain", "pens.myshopify.com")
	// Output: id 98880550, type orders/create, scope "pens.myshopify.com"
}

func ExampleStandard() {
	verifier := webhook.Standard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", webhook.WithTolerance(time.Minute))

	key, _ := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	body := `{"type": "invoice.paid", "data": {}}`
	now := strconv.FormatInt(time.Now().Unix(), 10)
	show(verifier, body, "webhook-id", "msg_1", "webhook-timestamp", now,
		"webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac(string(key), "msg_1."+now+"."+body)))
	// Output: id msg_1, type invoice.paid, scope ""
}

// A system that nobody else has: a shared secret in a header.
func ExampleVerifier() {
	verifier := idem.VerifierFunc(func(r *http.Request, body []byte) (idem.Delivery, error) {
		if !hmac.Equal([]byte(r.Header.Get("X-Secret")), []byte("at least 16 random bytes")) {
			return idem.Delivery{}, fmt.Errorf("the secret is wrong")
		}
		return idem.Delivery{ID: r.Header.Get("X-Message"), Type: "stock.changed"}, nil
	})

	show(verifier, `{}`, "X-Secret", "at least 16 random bytes", "X-Message", "17")
	// Output: id 17, type stock.changed, scope ""
}
