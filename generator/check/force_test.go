package check

import (
	"testing"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// A forced retry is of profile gateway, and for operations that can run again.
func TestForceRetry(t *testing.T) {
	on := true
	gateway := func(c *config.Config) { c.Profile = "gateway" }
	everywhere := func(c *config.Config) { c.Profile, c.Defaults = "gateway", spec.Policy{ForceRetry: &on} }
	forced := words(createPayment, "-- @policy force_retry=on")
	if p := (service{queries: createPayment, config: gateway}).operation(t).Policy; p.ForceRetry {
		t.Error("it is on without a word")
	}
	if p := (service{queries: forced, config: gateway}).operation(t).Policy; !p.ForceRetry {
		t.Error("annotation: off")
	}
	if p := (service{queries: createPayment, config: everywhere}).operation(t).Policy; !p.ForceRetry {
		t.Error("defaults: off")
	}
	if p := (service{queries: words(createPayment, "-- @policy force_retry=off"), config: everywhere}).operation(t).Policy; p.ForceRetry {
		t.Error("annotation over defaults: on")
	}
	read := "-- name: Op :one\n-- @http GET /x/{id}\nSELECT id FROM payments WHERE id = @id;\n"
	if p := (service{queries: read, config: everywhere}).operation(t).Policy; p.ForceRetry {
		t.Error("defaults speak of a read")
	}
	keyless := words(createPayment, "-- @key none", "-- @intent payments (tenant_id, order_id)")
	if p := (service{queries: keyless, config: everywhere}).operation(t).Policy; p.ForceRetry {
		t.Error("defaults speak of an intent without a key")
	}
	upsert := words("-- name: Op :exec\n-- @http PUT /x/{order_id}\nUPDATE payments SET note = @note WHERE order_id = @order_id;\n", "-- @intent payments (tenant_id, order_id)", "-- @policy force_retry=on")
	if p := (service{queries: upsert, config: gateway}).operation(t).Policy; !p.ForceRetry {
		t.Error("an UPDATE may meet its intent again")
	}
	intent := "-- @intent payments (tenant_id, order_id)"
	for name, c := range map[string]struct {
		service service
		want    want
	}{
		"ietf": {service{queries: forced}, want{diag.PolicyForm, "force_retry=on is in profile gateway only, and this service has profile ietf", "a new key", "force_retry"}},
		"stripe": {service{queries: forced, config: func(c *config.Config) { c.Profile = "stripe" }},
			want{diag.PolicyForm, "this service has profile stripe", "profile: gateway", "force_retry"}},
		"no key": {service{queries: words(createPayment, "-- @key none", "-- @policy force_retry=on"), config: gateway},
			want{diag.PolicyForm, "CreatePayment has no key", "every request runs", "force_retry"}},
		"intent": {service{queries: words(createPayment, intent, "-- @policy force_retry=on"), config: gateway},
			want{diag.PolicyForm, "CreatePayment can't be forced to run again: CreatePayment would meet the row that its intent payments", "remove the @intent", "force_retry"}},
		"intent, defaults": {service{queries: words(createPayment, intent), config: everywhere},
			want{diag.PolicyForm, "CreatePayment can't be forced to run again", "force_retry=off for this operation", ""}},
	} {
		t.Run(name, func(t *testing.T) { c.service.refuses(t, c.want) })
	}
}
