package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

const refunded = `-- name: Refunded :one
-- The acquirer gave money back.
-- @webhook stripe payment.refunded, payment.disputed
-- @bind id body.data.object.id
UPDATE payments SET note = 'refunded' WHERE tenant_id = @tenant_id AND id = @id RETURNING id;
`

func TestWebhookOperation(t *testing.T) {
	day := 24 * time.Hour
	defaults := func(c *config.Config) {
		c.Profile = "gateway"
		c.Defaults = spec.Policy{Success: &day}
		c.DefaultKeys = map[string]spec.Key{"POST": {From: "header"}}
	}
	for name, change := range map[string]func(*config.Config){"ietf": nil, "gateway with defaults": defaults} {
		op := service{queries: refunded, config: change}.operation(t)
		if op.Webhook == nil || op.Webhook.System != "stripe" || !slices.Equal(op.Webhook.Types, []string{"payment.refunded", "payment.disputed"}) {
			t.Fatalf("%s: %+v", name, op.Webhook)
		}
		if op.Method != "POST" || op.Path != "/webhooks/stripe" || op.Status != 200 || op.Key.From != "delivery" || !op.Key.Protects() {
			t.Errorf("%s: %s %s %d, key %+v", name, op.Method, op.Path, op.Status, op.Key)
		}
		if op.Policy.Success != 30*day || op.Policy.ServerError != 0 || op.Policy.ForceRetry {
			t.Errorf("%s: policy %+v", name, op.Policy)
		}
	}
	own := service{queries: words(refunded, "-- @policy success=90d")}.operation(t)
	if own.Policy.Success != 90*day {
		t.Errorf("its own policy: kept %v", own.Policy.Success)
	}
	exec := service{queries: "-- name: Seen :exec\n-- @webhook github push\n-- @bind note body.ref\nUPDATE payments SET note = @note WHERE tenant_id = @tenant_id;\n"}.operation(t)
	if exec.Status != 204 {
		t.Errorf("without a row: %d", exec.Status)
	}
	ofSpec := service{queries: "-- name: Q :one\nUPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id AND id = @id RETURNING id;\n",
		specs: "endpoints:\n  Refunded:\n    webhook: stripe payment.refunded\n    steps: [{query: Q, bind: {id: body.data.id}}]\n"}.operation(t)
	if ofSpec.Webhook == nil || ofSpec.Path != "/webhooks/stripe" {
		t.Errorf("of a spec: %+v", ofSpec)
	}
}

// The system says whose a row is, and it is authenticated: no warning.
func TestWebhookMayBindTheScopesColumnToTheDelivery(t *testing.T) {
	service{queries: words(refunded, "-- @bind tenant_id body.account"), ties: true}.ok(t)
}

func TestWebhooksShareARoute(t *testing.T) {
	other := "-- name: Other :one\n-- @webhook stripe%s\nUPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id RETURNING id;\n"
	with := func(types string) string { return refunded + replace(other, types) }
	if got := len((service{queries: with(" payment.captured")}).ok(t).Operations); got != 2 {
		t.Errorf("%d operations", got)
	}
	service{queries: with("")}.ok(t) // it takes the rest
	service{queries: refunded + replace(other, " payment.captured") + "-- name: Rest :one\n-- @webhook github\nUPDATE payments SET note = 'y' WHERE tenant_id = @tenant_id RETURNING id;\n"}.ok(t)
	service{queries: with(" payment.disputed")}.refuses(t, want{diag.RouteConflict, "Other and Refunded both take deliveries of stripe of type payment.disputed", "name each type once", ""})
	rest := "-- name: Rest :one\n-- @webhook stripe\nUPDATE payments SET note = 'y' WHERE tenant_id = @tenant_id RETURNING id;\n"
	service{queries: replace(other, "") + rest}.refuses(t, want{diag.RouteConflict, "Other and Rest both take every delivery of stripe", "@webhook stripe TYPE", ""})
	plain := "-- name: Create :one\n-- @http POST /webhooks/stripe\nUPDATE payments SET note = 'y' WHERE tenant_id = @tenant_id RETURNING id;\n"
	service{queries: refunded + plain}.refuses(t, want{diag.RouteConflict, "are both at POST /webhooks/stripe", "change one path", ""})
}

func replace(query, types string) string { return strings.Replace(query, "%s", types, 1) }

func TestWebhookRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		service service
		want    want
	}{
		"a key": {service{queries: words(refunded, "-- @key header")},
			want{diag.KeyRule, "the key of a webhook is the id of its delivery", "remove @key", "header"}},
		"a caller's field": {service{queries: strings.Replace(refunded, "body.data.object.id", "caller.user_id", 1)},
			want{diag.BindUnknown, "Refunded is a webhook, which has no caller.user_id", "body.NAME", "caller.user_id"}},
		"forced": {service{queries: words(refunded, "-- @policy force_retry=on"), config: func(c *config.Config) { c.Profile = "gateway" }},
			want{diag.PolicyForm, "nobody forces to run again", "remove it", "force_retry"}},
		"a scope that the body names by accident": {service{queries: "-- name: R :one\n-- @webhook stripe\nUPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id RETURNING id;\n",
			config: func(c *config.Config) { c.Bind = nil }},
			want{diag.ScopeForged, "@tenant_id says whose the row is", "caller.tenant_id", ""}},
	} {
		t.Run(name, func(t *testing.T) { c.service.refuses(t, c.want) })
	}
}

// What a sender delivers is not continued by its process: an event does that.
func TestWebhooksAreNotDurable(t *testing.T) {
	service{queries: words(refunded, "-- @async")}.
		refuses(t, want{diag.KeyRule, "@async is for requests of clients, and this is a webhook", "@outbox", ""})
}
