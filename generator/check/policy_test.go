package check

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

func TestPolicyPrecedence(t *testing.T) {
	want := model.Policy{
		Success: 24 * time.Hour, ClientError: 2 * time.Hour, Wait: 2 * time.Second, Timeout: 30 * time.Second,
		MaxBody: 1 << 20, Isolation: "read committed", RecordBody: true,
	}
	if got := (service{queries: createPayment}).operation(t).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("profile: %+v", got)
	}
	hour, size := 48*time.Hour, int64(64)
	defaults := func(c *config.Config) {
		c.Defaults = spec.Policy{Success: &hour, MaxBody: &size, Inflight: &spec.Inflight{}}
	}
	want.Success, want.MaxBody, want.Wait = hour, size, 0
	if got := (service{queries: createPayment, config: defaults}).operation(t).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("defaults: %+v", got)
	}
	want.Success, want.Isolation, want.RecordBody, want.Timeout = 72*time.Hour, "serializable", false, time.Second
	q := words(createPayment, "-- @policy success=72h isolation=serializable record=none timeout=1s")
	if got := (service{queries: q, config: defaults}).operation(t).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("annotation: %+v", got)
	}
	want.RecordBody, want.Sealed = true, true
	q = words(createPayment, "-- @policy success=72h isolation=serializable record=sealed timeout=1s")
	if got := (service{queries: q, config: defaults}).operation(t).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("sealed: %+v", got)
	}
}

// Where there is no record, none is sealed: the service needs no Options.Seal.
func TestOperationsWithoutKeySealNothing(t *testing.T) {
	sealed := "sealed"
	everywhere := func(c *config.Config) { c.Defaults = spec.Policy{Record: &sealed} }
	for word, want := range map[string]bool{"-- @key none": false, "-- @key header": true} {
		if p := (service{queries: words(createPayment, word), config: everywhere}).operation(t).Policy; p.Sealed != want || !p.RecordBody {
			t.Errorf("%s: %+v", word, p)
		}
	}
	service{queries: words(createPayment, "-- @key none", "-- @policy record=sealed")}.
		refuses(t, want{diag.PolicyForm, "CreatePayment has no key, so there is no record to seal", "a key", "record"})
}

// TestProfileIsUnderneath: what the profile says holds only where neither
// `defaults:` nor the operation says something else.
func TestProfileIsUnderneath(t *testing.T) {
	profile := func(name string) func(*config.Config) { return func(c *config.Config) { c.Profile = name } }
	stripe := service{queries: createPayment, config: profile("stripe")}.operation(t).Policy
	if stripe.ClientError != 24*time.Hour || stripe.ServerError != 24*time.Hour || stripe.Wait != 0 || stripe.NoPrint {
		t.Errorf("stripe: %+v", stripe)
	}
	gateway := service{queries: createPayment, config: profile("gateway")}.operation(t).Policy
	if gateway.Success != 24*time.Hour || gateway.ClientError != 2*time.Hour || gateway.ServerError != 5*time.Minute || gateway.Wait != 0 || !gateway.NoPrint {
		t.Errorf("gateway: %+v", gateway)
	}
	minute := time.Minute
	both := func(c *config.Config) {
		c.Profile = "gateway"
		c.Defaults = spec.Policy{ServerError: &minute, Inflight: &spec.Inflight{Wait: time.Second}, Fingerprint: &spec.Fingerprint{Mode: "all"}}
	}
	got := service{queries: createPayment, config: both}.operation(t).Policy
	if got.ServerError != minute || got.Wait != time.Second || got.NoPrint {
		t.Errorf("defaults: %+v", got)
	}
	q := words(createPayment, "-- @policy server_error=2m inflight=reject fingerprint=only(amount)")
	got = service{queries: q, config: both}.operation(t).Policy
	if got.ServerError != 2*minute || got.Wait != 0 || !slices.Equal(got.Fingerprint, []string{"amount"}) {
		t.Errorf("annotation: %+v", got)
	}
	q = words(createPayment, "-- @policy fingerprint=only(amuont)")
	service{queries: q, config: profile("gateway")}.
		refuses(t, want{diag.PolicyForm, "the fingerprint names amuont", "did you mean amount?", "amuont"})
	nobody := func(c *config.Config) {
		c.Profile, c.Scope = "gateway", spec.Source{Kind: spec.SourceNone}
	}
	service{queries: update(), config: nobody}.
		refuses(t, want{diag.KeyRule, "without a scope, only the fingerprint keeps clients apart", "profile gateway compares nothing", ""})
	said := func(c *config.Config) {
		nobody(c)
		c.Defaults = spec.Policy{Fingerprint: &spec.Fingerprint{Mode: "none"}}
	}
	service{queries: update(), config: said}.
		refuses(t, want{diag.KeyRule, "without a scope, only the fingerprint keeps clients apart", "remove fingerprint=none", ""})
}

// TestHeaderKeyByProfile: `@key header` alone means required in profile ietf.
func TestHeaderKeyByProfile(t *testing.T) {
	for _, profile := range []string{"ietf", "stripe", "gateway"} {
		for word, want := range map[string]bool{
			"": profile == "ietf", "-- @key header": profile == "ietf", "-- @key header required": true, "-- @key header optional": false,
		} {
			q := createPayment
			if word != "" {
				q = words(q, word)
			}
			for _, rule := range []map[string]spec.Key{nil, {"POST": {From: "header"}}} {
				op := service{queries: q, config: func(c *config.Config) { c.Profile, c.DefaultKeys = profile, rule }}.operation(t)
				if op.Key.From != "header" || op.Key.Required != want {
					t.Errorf("%s, %q, %v: %+v", profile, word, rule, op.Key)
				}
			}
		}
	}
}

func TestPolicyContradictions(t *testing.T) {
	service{queries: words(createPayment, "-- @policy success=50s")}.
		refuses(t, want{diag.PolicyForm, "success=50s is less than twice the timeout of 30s", "1m0s or more", "success"})
	service{queries: words(createPayment, "-- @policy timeout=90m")}.
		refuses(t, want{diag.PolicyForm, "client_error=2h0m0s is less than twice", "lower timeout", "timeout"})
}

func TestFingerprint(t *testing.T) {
	print := func(rule string) model.Policy {
		return service{queries: words(createPayment, "-- @policy fingerprint="+rule)}.operation(t).Policy
	}
	if p := print("only(amount,order_id)"); p.NoPrint || !slices.Equal(p.Fingerprint, []string{"amount", "order_id"}) {
		t.Errorf("only: %+v", p)
	}
	if p := print("except(amount)"); p.NoPrint || !slices.Equal(p.Fingerprint, []string{"currency", "order_id"}) {
		t.Errorf("except: %+v", p)
	}
	if p := print("none"); !p.NoPrint {
		t.Errorf("none: %+v", p)
	}
	if p := print("except(amount,currency,order_id)"); !p.NoPrint {
		t.Errorf("nothing is left: %+v", p)
	}
	service{queries: words(createPayment, "-- @policy fingerprint=only(amuont)")}.
		refuses(t, want{diag.PolicyForm, "the fingerprint names amuont", "did you mean amount?", "amuont"})
	only := func(name string) func(*config.Config) {
		return func(c *config.Config) {
			c.Defaults = spec.Policy{Fingerprint: &spec.Fingerprint{Mode: "only", Names: []spec.Name{{Value: name}}}}
		}
	}
	service{queries: createPayment, config: only("nothing")}.
		refuses(t, want{diag.PolicyForm, "the fingerprint of defaults names no input of CreatePayment", "fingerprint of its own", ""})
	if p := (service{queries: createPayment, config: only("amount")}).operation(t).Policy; p.NoPrint || !slices.Equal(p.Fingerprint, []string{"amount"}) {
		t.Errorf("only, of defaults: %+v", p)
	}
	service{queries: update("-- @policy fingerprint=none"), config: func(c *config.Config) { c.Scope = spec.Source{Kind: spec.SourceNone} }}.
		refuses(t, want{diag.KeyRule, "without a scope, only the fingerprint keeps clients apart", "set a scope", "fingerprint"})
}

func TestKeys(t *testing.T) {
	op := service{queries: words(createPayment, `-- @key body.order_id prefix="order-"`)}.operation(t)
	if op.Key.From != "source" || op.Key.Source.Input != inputNamed(t, op, "body.order_id") || !slices.Equal(op.Key.Prefix, []model.Part{{Text: "order-"}}) {
		t.Errorf("got %+v", op.Key)
	}
	op = service{queries: words(createPayment, "-- @key header.x-request-id")}.operation(t)
	if in := inputNamed(t, op, "header.X-Request-Id"); !in.Required || in.Type.Kind != model.KindText || in.Type.GoType.Expr != "string" {
		t.Errorf("a key that no parameter takes is a text: %+v", in)
	}
	op = service{queries: words(createPayment, "-- @key caller.user")}.operation(t)
	if in := inputNamed(t, op, "caller.user"); in.Type.GoType.Expr != "string" {
		t.Errorf("got %+v", in)
	}
	op = service{queries: `-- name: Op :exec
-- @http POST /x/{account}
-- @key header.x-ref prefix="acc-{account}-"
UPDATE payments SET note = @note;
`}.operation(t)
	inputNamed(t, op, "path.account")
	if op = (service{queries: words(createPayment, "-- @key header optional")}).operation(t); op.Key.Required {
		t.Errorf("got %+v", op.Key)
	}
	op = service{queries: words(createPayment, "-- @intent payments (tenant_id, order_id)", "-- @key intent")}.operation(t)
	if op.Key.From != "intent" {
		t.Errorf("got %+v", op.Key)
	}
}

func TestKeyErrors(t *testing.T) {
	for _, c := range []struct {
		name, query string
		want        want
	}{
		{"intent without one", words(createPayment, "-- @key intent"), want{diag.KeyRule, "@key intent needs an @intent", "add @intent", "intent"}},
		{"intent that is made", words(createPayment, "-- @intent payments (tenant_id, order_id)", "-- @key intent", "-- @bind order_id uuid7"),
			want{diag.KeyRule, "the intent's column order_id comes from uuid7", "another key", "intent"}},
		{"intent that is computed", "-- name: Op :exec\n-- @http POST /x\n-- @intent payments (tenant_id, order_id)\n-- @key intent\n" +
			"INSERT INTO payments (tenant_id, order_id, amount, currency) VALUES (@tenant_id, lower(@order_id::text), 1, 'EUR');\n",
			want{diag.KeyRule, "the intent's column order_id is not a parameter", "@order_id", "intent"}},
		{"a read", "-- name: Op :one\n-- @http GET /x/{id}\n-- @key header\nSELECT id FROM payments WHERE id = @id;\n",
			want{diag.KeyRule, "a GET runs nothing twice", "remove @key", "header"}},
		{"optional member", "-- name: Op :exec\n-- @http POST /x\n-- @key body.note\nUPDATE payments SET note = @note;\n",
			want{diag.KeyRule, "body.note may be missing", "NOT NULL", "body.note"}},
		{"document", "-- name: Op :exec\n-- @http POST /x\n-- @key body.doc\nUPDATE payments SET meta = @doc::jsonb;\n",
			want{diag.KeyRule, "body.doc is jsonb, which can't be a key", "single value", "body.doc"}},
		{"bound but absent", "-- name: Op :exec\n-- @http POST /x\n-- @key none\n-- @bind note key\nUPDATE payments SET note = @note;\n",
			want{diag.KeyRule, "Op has no key to bind", "@key header", "key"}},
		{"prefix", words(createPayment, `-- @key body.order_id prefix="{account}"`),
			want{diag.KeyRule, "the prefix names {account}", "no path parameter", "body.order_id"}},
	} {
		t.Run(c.name, func(t *testing.T) { service{queries: c.query}.refuses(t, c.want) })
	}
}
