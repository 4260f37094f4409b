package main

import (
	"errors"

	"github.com/idemgen/idemgen/idem"
)

// tenantOfMessage is the tenant of a message: the scope that the shop's outbox sends
// along. Who can publish to the broker is believed.
func tenantOfMessage(m idem.Message) (string, error) {
	tenant := m.Headers.Get("scope")
	if tenant == "" {
		return "", errors.New("the message has no header scope")
	}
	return tenant, nil
}
