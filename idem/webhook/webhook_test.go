package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/webhook"
)

const event = `{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1"}}}`

// sample is a delivery that is signed at sent, and its verifier.
type sample struct {
	make    func(secret string, options ...webhook.Option) *webhook.Verifier
	secret  string
	sent    int64
	headers map[string]string
	body    string
	want    idem.Delivery
}

// Where the systems publish examples, these are theirs; the signatures of the others were
// made with OpenSSL.
var samples = map[string]sample{
	"stripe": {
		make: webhook.Stripe, secret: "whsec_test_secret", sent: 1492774577, body: event,
		headers: map[string]string{"Stripe-Signature": "t=1492774577,v1=975471d77ba7316c751332db6ec584edec3bec308ff587510319b2d082113f6f,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"},
		want:    idem.Delivery{ID: "evt_1", Type: "payment_intent.succeeded"},
	},
	// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
	"github": {
		make: webhook.GitHub, secret: "It's a Secret to Everybody", body: "Hello, World!",
		headers: map[string]string{
			"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
			"X-GitHub-Delivery":   "72d3162e-cc78-11e3-81ab-4c9367dc0958", "X-GitHub-Event": "issues",
		},
		want: idem.Delivery{ID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Type: "issues"},
	},
	"shopify": {
		make: webhook.Shopify, secret: "shpss_secret", body: event,
		headers: map[string]string{
			"X-Shopify-Hmac-Sha256": "MWv2qy4Ya8bTl+VdBi0S4BJkfnInpwGoHn1vFZBCRCQ=",
			"X-Shopify-Event-Id":    "98880550-7158-44d4-b7cd-2c97c8a091b5", "X-Shopify-Topic": "orders/create",
		},
		want: idem.Delivery{ID: "98880550-7158-44d4-b7cd-2c97c8a091b5", Type: "orders/create"},
	},
}

func (s sample) request(change ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/x", nil)
	for name, value := range s.headers {
		r.Header.Set(name, value)
	}
	for i := 0; i < len(change); i += 2 {
		r.Header.Set(change[i], change[i+1])
		if change[i+1] == "" {
			r.Header.Del(change[i])
		}
	}
	return r
}

// verifier is one whose clock stands age after the sample was sent.
func (s sample) verifier(age time.Duration, options ...webhook.Option) *webhook.Verifier {
	clock := webhook.WithClock(func() time.Time { return time.Unix(s.sent, 0).Add(age) })
	return s.make(s.secret, append(options, clock)...)
}

func TestPublishedDeliveriesAreAuthentic(t *testing.T) {
	for name, s := range samples {
		v := s.verifier(time.Minute)
		if err := v.Check(); err != nil {
			t.Fatal(name, err)
		}
		got, err := v.Verify(s.request(), []byte(s.body))
		if err != nil || got.ID != s.want.ID || got.Type != s.want.Type || got.Scope != "" || string(got.JSON) != s.body {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The example of the specification's own test suite: its document has no type, which a
// WithType can give.
func TestStandardWebhooksVector(t *testing.T) {
	s := sample{
		make: webhook.Standard, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", sent: 1614265330, body: `{"test": 2432232314}`,
		headers: map[string]string{
			"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
			"webhook-signature": "v1a,aGVsbG8= v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		},
	}
	kind := webhook.WithType(func(*http.Request, idem.Delivery) (string, error) { return "test", nil })
	d, err := s.verifier(0, kind).Verify(s.request(), []byte(s.body))
	if err != nil || d.ID != "msg_p5jXN8AQM9LWM0D4loKWxJek" || d.Type != "test" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := s.verifier(0, kind).Verify(s.request(), []byte(`{"test": 2432232315}`)); err == nil {
		t.Error("a tampered document was taken")
	}
	var refused *idem.Error
	if _, err := s.verifier(0).Verify(s.request(), []byte(s.body)); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
		t.Errorf("without a type: %v; want 400", err)
	}
}

// signed is a delivery of Standard Webhooks under the given header names.
func signed(prefix string, key []byte, sent int64, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/x", nil)
	at := strconv.FormatInt(sent, 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("msg_1." + at + "." + body))
	r.Header.Set(prefix+"-id", "msg_1")
	r.Header.Set(prefix+"-timestamp", at)
	r.Header.Set(prefix+"-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return r
}

func TestStandardTakesSecretsAndHeadersInBothForms(t *testing.T) {
	key := []byte("0123456789abcdef01234567")
	secret := base64.StdEncoding.EncodeToString(key)
	now := time.Now().Unix()
	for _, v := range []*webhook.Verifier{webhook.Standard(secret), webhook.Standard("whsec_" + secret)} {
		d, err := v.Verify(signed("webhook", key, now, `{"type":"invoice.paid"}`), []byte(`{"type":"invoice.paid"}`))
		if err != nil || d.ID != "msg_1" || d.Type != "invoice.paid" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	v := webhook.Standard(secret, webhook.WithHeaderPrefix("svix"))
	if _, err := v.Verify(signed("svix", key, now, `{"type":"a"}`), []byte(`{"type":"a"}`)); err != nil {
		t.Error(err)
	}
	if _, err := v.Verify(signed("webhook", key, now, `{"type":"a"}`), []byte(`{"type":"a"}`)); err == nil {
		t.Error("the other headers were read")
	}
}

func TestTamperedBodiesAreRefused(t *testing.T) {
	for name, s := range samples {
		v := s.verifier(0)
		for i := range s.body {
			changed := []byte(s.body)
			changed[i] ^= 1
			if d, err := v.Verify(s.request(), changed); err == nil || d.ID != "" {
				t.Fatalf("%s: byte %d changed: %+v, %v", name, i, d, err)
			}
		}
		for _, body := range []string{"", s.body + " ", s.body[1:]} {
			if _, err := v.Verify(s.request(), []byte(body)); err == nil {
				t.Errorf("%s: %q was taken", name, body)
			}
		}
	}
}

func TestWrongSecretsAreRefusedAndSeveralAreTaken(t *testing.T) {
	for name, s := range samples {
		body := []byte(s.body)
		right := s.secret
		s.secret = "another secret"
		if _, err := s.verifier(0).Verify(s.request(), body); err == nil {
			t.Errorf("%s: a wrong secret was taken", name)
		}
		if _, err := s.verifier(0, webhook.WithSecrets("a third one", right)).Verify(s.request(), body); err != nil {
			t.Errorf("%s: with several secrets: %v", name, err)
		}
	}
}

func TestTimesOutsideTheToleranceAreRefused(t *testing.T) {
	s := samples["stripe"]
	for age, taken := range map[time.Duration]bool{
		5 * time.Minute: true, 5*time.Minute + time.Second: false, -5 * time.Minute: true, -5*time.Minute - time.Second: false,
	} {
		if _, err := s.verifier(age).Verify(s.request(), []byte(s.body)); (err == nil) != taken {
			t.Errorf("%v: %v", age, err)
		}
	}
	if _, err := s.verifier(time.Hour, webhook.WithTolerance(2*time.Hour)).Verify(s.request(), []byte(s.body)); err != nil {
		t.Error(err)
	}
	if _, err := s.verifier(1e6*time.Hour, webhook.WithTolerance(-1)).Verify(s.request(), []byte(s.body)); err != nil {
		t.Error(err)
	}
	key := []byte("0123456789abcdef01234567")
	for age, taken := range map[int64]bool{0: true, 301: false, -301: false} {
		v := webhook.Standard(base64.StdEncoding.EncodeToString(key), webhook.WithClock(func() time.Time { return time.Unix(1000000+age, 0) }))
		if _, err := v.Verify(signed("webhook", key, 1000000, `{"type":"a"}`), []byte(`{"type":"a"}`)); (err == nil) != taken {
			t.Errorf("%d: %v", age, err)
		}
	}
}

func TestMalformedHeadersAreRefused(t *testing.T) {
	right := strings.TrimPrefix(strings.Split(samples["stripe"].headers["Stripe-Signature"], ",")[1], "v1=")
	for system, headers := range map[string][]string{
		"stripe": {"Stripe-Signature",
			"", "t", "t=,v1=", "t=1492774577", "v1=" + right, "t=1492774577,v0=" + right, "t=1492774577,v1=" + right[:62], "t=1492774577,v1=zz",
			"t=01492774577,v1=" + right, "t=1492774577,t=1492774577,v1=" + right, "t=1492774577 v1=" + right, "t=1492774578,v1=" + right, "\x00", ",,,,"},
		"github": {"X-Hub-Signature-256",
			"", "sha256=", "sha1=757107ea0eb2509fc211221cce984b8a37570b6d", "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17", "sha256=zz", "sha256=757107"},
		"shopify": {"X-Shopify-Hmac-Sha256", "", "=", "!!!!", "AAAA"},
	} {
		s := samples[system]
		for _, value := range headers[1:] {
			if d, err := s.verifier(0).Verify(s.request(headers[0], value), []byte(s.body)); err == nil || d.ID != "" {
				t.Errorf("%s %q: %+v, %v", headers[0], value, d, err)
			}
		}
		twice := s.request()
		twice.Header.Add(headers[0], s.headers[headers[0]])
		if _, err := s.verifier(0).Verify(twice, []byte(s.body)); err == nil {
			t.Errorf("two %s were taken", headers[0])
		}
	}
}

// What is authentic and unreadable is the sender's 400, not an authentication failure.
func TestAuthenticDeliveriesWithoutIDOrTypeAreUnreadable(t *testing.T) {
	var refused *idem.Error
	for _, name := range []string{"X-GitHub-Delivery", "X-GitHub-Event"} {
		s := samples["github"]
		if _, err := s.verifier(0).Verify(s.request(name, ""), []byte(s.body)); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for _, body := range []string{`{"id":"evt_1"}`, `{"type":"a"}`, `{"id":7,"type":"a"}`, `[]`, `null`, `{`, ``} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		mac := hmac.New(sha256.New, []byte("s"))
		mac.Write([]byte("5." + body))
		r.Header.Set("Stripe-Signature", "t=5,v1="+hex.EncodeToString(mac.Sum(nil)))
		v := webhook.Stripe("s", webhook.WithTolerance(-1))
		if _, err := v.Verify(r, []byte(body)); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestSecretsThatCantBeAreNamedAndRefuseEverything(t *testing.T) {
	s := samples["stripe"]
	for place, v := range map[string]*webhook.Verifier{
		"secret 1": webhook.Stripe(""), "secret 2": webhook.GitHub("x", webhook.WithSecrets("")),
		"secret 3": webhook.Standard("AAAA", webhook.WithSecrets("whsec_AAAA", "whsec_!")), "secret 1 is empty": webhook.Standard("whsec_"),
	} {
		err := v.Check()
		if err == nil || !strings.Contains(err.Error(), place) || strings.Contains(err.Error(), "!") {
			t.Errorf("%s: %v", place, err)
		}
		if _, err := v.Verify(s.request(), []byte(s.body)); err == nil {
			t.Errorf("%s: a delivery was taken", place)
		}
	}
}

func TestScopeAndTypeMayComeFromTheDelivery(t *testing.T) {
	s := samples["shopify"]
	v := s.verifier(0,
		webhook.WithScope(func(r *http.Request, d idem.Delivery) (string, error) {
			return r.Header.Get("X-Shopify-Shop-Domain") + "/" + d.Type, nil
		}),
		webhook.WithType(func(_ *http.Request, d idem.Delivery) (string, error) { return d.Type + "." + string(d.JSON[:1]), nil }))
	d, err := v.Verify(s.request("X-Shopify-Shop-Domain", "a.myshopify.com"), []byte(s.body))
	if err != nil || d.Scope != "a.myshopify.com/orders/create.{" || d.Type != "orders/create.{" {
		t.Errorf("%+v, %v", d, err)
	}
	unknown := errors.New("no such shop")
	v = s.verifier(0, webhook.WithScope(func(*http.Request, idem.Delivery) (string, error) { return "", unknown }))
	if _, err := v.Verify(s.request(), []byte(s.body)); !errors.Is(err, unknown) {
		t.Error(err)
	}
	asked := false
	v = s.verifier(0, webhook.WithScope(func(*http.Request, idem.Delivery) (string, error) { asked = true; return "", nil }))
	if _, err := v.Verify(s.request(), []byte("forged")); err == nil || asked {
		t.Error("the scope of a forged delivery was asked for")
	}
}

// Whatever is sent, nothing panics, and nothing is authentic that was not signed.
func FuzzVerify(f *testing.F) {
	for _, s := range samples {
		for _, value := range s.headers {
			f.Add(value, []byte(s.body))
		}
	}
	f.Add("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1", []byte("{}"))
	f.Fuzz(func(t *testing.T, value string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		for _, name := range []string{"Stripe-Signature", "X-Hub-Signature-256", "X-GitHub-Delivery", "X-GitHub-Event", "X-Shopify-Hmac-Sha256",
			"X-Shopify-Event-Id", "X-Shopify-Topic", "webhook-id", "webhook-timestamp", "webhook-signature"} {
			r.Header.Set(name, value)
		}
		for _, v := range []*webhook.Verifier{webhook.Stripe("unknown to the fuzzer"), webhook.GitHub("unknown"), webhook.Shopify("unknown"), webhook.Standard("AAAA")} {
			if d, err := v.Verify(r, body); err == nil {
				t.Fatalf("%q, %q: %+v", value, body, d)
			}
		}
	})
}
