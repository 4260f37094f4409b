package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/webhook"
)

// stripeSecrets are those of STRIPE_WEBHOOK_SECRETS, parted by spaces: while a secret
// is being changed there are two. Where there is none, nobody knows the secret, and
// every delivery is refused.
func stripeSecrets() []string {
	if secrets := strings.Fields(os.Getenv("STRIPE_WEBHOOK_SECRETS")); len(secrets) > 0 {
		return secrets
	}
	return []string{rand.Text()}
}

// webhooks verify what other systems deliver.
func webhooks(secrets []string) map[string]idem.Verifier {
	return map[string]idem.Verifier{
		"stripe": webhook.Stripe(secrets[0], webhook.WithSecrets(secrets[1:]...), webhook.WithScope(tenantOf)),
	}
}

// tenantOf is the tenant of an event: the account that it happened in.
func tenantOf(_ *http.Request, d idem.Delivery) (string, error) {
	var event struct{ Account string }
	if err := json.Unmarshal(d.JSON, &event); err != nil {
		return "", err
	}
	if event.Account == "" {
		return "", errors.New("the event has no account")
	}
	return event.Account, nil
}
