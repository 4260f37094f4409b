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

const shipped = `-- name: Shipped :one
-- The parcel has left.
-- @consume parcels parcel.sent, parcel.resent
-- @bind id body.payment_id
UPDATE payments SET note = 'sent' WHERE tenant_id = @tenant_id AND id = @id RETURNING id;
`

func TestConsumeOperation(t *testing.T) {
	day := 24 * time.Hour
	defaults := func(c *config.Config) {
		c.Profile = "gateway"
		c.Defaults = spec.Policy{Success: &day}
		c.DefaultKeys = map[string]spec.Key{"POST": {From: "header"}}
	}
	for name, change := range map[string]func(*config.Config){"ietf": nil, "gateway with defaults": defaults} {
		op := service{queries: shipped, config: change}.operation(t)
		if op.Consumer == nil || op.Consumer.Topic != "parcels" || !slices.Equal(op.Consumer.Types, []string{"parcel.sent", "parcel.resent"}) {
			t.Fatalf("%s: %+v", name, op.Consumer)
		}
		if op.Method != "CONSUME" || op.Path != "parcels" || op.Status != 200 || op.Key.From != "message" || !op.Key.Protects() {
			t.Errorf("%s: %s %s %d, key %+v", name, op.Method, op.Path, op.Status, op.Key)
		}
		if op.Policy.Success != 30*day || op.Policy.ServerError != 0 || op.Policy.ForceRetry {
			t.Errorf("%s: policy %+v", name, op.Policy)
		}
	}
	if own := (service{queries: words(shipped, "-- @policy success=90d")}).operation(t); own.Policy.Success != 90*day {
		t.Errorf("its own policy: kept %v", own.Policy.Success)
	}
	ofSpec := service{queries: "-- name: Q :one\nUPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id AND id = @id RETURNING id;\n",
		specs: "endpoints:\n  Shipped:\n    consume: parcels\n    steps: [{query: Q, bind: {id: body.id}}]\n"}.operation(t)
	if ofSpec.Consumer == nil || ofSpec.Path != "parcels" {
		t.Errorf("of a spec: %+v", ofSpec)
	}
}

// Where a broker has no ids, the message itself has to have one.
func TestConsumeKeyOfTheMessage(t *testing.T) {
	if op := (service{queries: words(shipped, "-- @key body.payment_id")}).operation(t); op.Key.From != "source" || op.Key.Source.Input == nil {
		t.Errorf("%+v", op.Key)
	}
	if op := (service{queries: words(shipped, "-- @key header.Event-Id")}).operation(t); op.Key.From != "source" {
		t.Errorf("%+v", op.Key)
	}
}

// The producer says whose a row is: no warning.
func TestConsumeMayBindTheScopesColumnToTheMessage(t *testing.T) {
	service{queries: words(shipped, "-- @bind tenant_id body.account"), ties: true}.ok(t)
}

func TestConsumersShareATopic(t *testing.T) {
	other := "-- name: Other :one\n-- @consume parcels%s\nUPDATE payments SET note = 'x' WHERE tenant_id = @tenant_id RETURNING id;\n"
	with := func(types string) string { return shipped + replace(other, types) }
	if got := len((service{queries: with(" parcel.lost")}).ok(t).Operations); got != 2 {
		t.Errorf("%d operations", got)
	}
	service{queries: with("")}.ok(t) // it takes the rest
	service{queries: with(" parcel.resent")}.refuses(t, want{diag.RouteConflict, "Other and Shipped both take messages of parcels of type parcel.resent", "name each type once", ""})
	rest := "-- name: Rest :one\n-- @consume parcels\nUPDATE payments SET note = 'y' WHERE tenant_id = @tenant_id RETURNING id;\n"
	service{queries: replace(other, "") + rest}.refuses(t, want{diag.RouteConflict, "Other and Rest both take every message of parcels", "@consume parcels TYPE", ""})
}

func TestConsumeRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		service service
		want    want
	}{
		"a client's key": {service{queries: words(shipped, "-- @key header")},
			want{diag.KeyRule, "the key of a consumer is the id of its message", "@key body.NAME", "header"}},
		"no key": {service{queries: words(shipped, "-- @key none")},
			want{diag.KeyRule, "the key of a consumer is the id of its message", "@key body.NAME", "none"}},
		"a caller's field": {service{queries: strings.Replace(shipped, "body.payment_id", "caller.user_id", 1)},
			want{diag.BindUnknown, "Shipped is a consumer, which has no caller.user_id", "body.NAME", "caller.user_id"}},
		"a part of a route": {service{queries: strings.Replace(shipped, "body.payment_id", "path.id", 1)},
			want{diag.BindUnknown, "Shipped is a consumer, which has no path.id", "body.NAME", "path.id"}},
		"a query parameter": {service{queries: strings.Replace(shipped, "body.payment_id", "query.id", 1)},
			want{diag.BindUnknown, "Shipped is a consumer, which has no query.id", "body.NAME", "query.id"}},
		"forced": {service{queries: words(shipped, "-- @policy force_retry=on"), config: func(c *config.Config) { c.Profile = "gateway" }},
			want{diag.PolicyForm, "nobody forces to run again", "remove it", "force_retry"}},
		"in the background": {service{queries: words(shipped, "-- @async")},
			want{diag.KeyRule, "@async is for requests of clients, and this is a consumer", "@outbox", ""}},
	} {
		t.Run(name, func(t *testing.T) { c.service.refuses(t, c.want) })
	}
}
