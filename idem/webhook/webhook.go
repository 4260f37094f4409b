// Package webhook verifies the deliveries of known systems: Stripe, GitHub, Shopify,
// and all that follow Standard Webhooks. Each function makes an idem.Verifier for
// Options.Webhooks of an emitted service:
//
//	Webhooks: map[string]idem.Verifier{"stripe": webhook.Stripe(secret)}
//
// Signatures are checked over the raw body and compared in constant time. It imports
// the standard library and idem.
package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/idemgen/idemgen/idem"
)

// Tolerance is how far a signed time may be from now, in either direction, unless
// [WithTolerance] says otherwise: what Stripe's and Standard Webhooks' libraries take.
const Tolerance = 5 * time.Minute

// Verifier is the idem.Verifier of one system. It is safe for concurrent use.
type Verifier struct {
	secrets   []string
	keys      [][]byte // of the secrets
	tolerance time.Duration
	now       func() time.Time
	prefix    string // of the headers of Standard Webhooks
	scope     func(*http.Request, idem.Delivery) (string, error)
	typeOf    func(*http.Request, idem.Delivery) (string, error)
	scheme    scheme
	broken    error // a secret that can't be read
}

// scheme is what one system does in its own way.
type scheme struct {
	key    func(secret string) ([]byte, error)
	verify func(v *Verifier, h http.Header, body []byte) error
	read   func(v *Verifier, h http.Header, body []byte) (idem.Delivery, error)
}

// Option changes a Verifier.
type Option func(*Verifier)

// WithSecrets adds secrets, so that they can be changed: a delivery that is signed with
// any of them is authentic. Give old and new one until the system signs with the new.
func WithSecrets(secrets ...string) Option {
	return func(v *Verifier) { v.secrets = append(v.secrets, secrets...) }
}

// WithTolerance replaces [Tolerance]; below 0, times are not compared. GitHub and
// Shopify sign no time.
func WithTolerance(d time.Duration) Option { return func(v *Verifier) { v.tolerance = d } }

// WithScope says whose delivery it is: the scope of its key, and the value of the
// caller's field that idemgen.yaml names in `scope:`. Without it, and where it gives "",
// the scope is the system's name. It is called after the signature was checked, with
// Delivery.JSON set. Its error is answered with 401, an *idem.Error as it is.
func WithScope(of func(*http.Request, idem.Delivery) (string, error)) Option {
	return func(v *Verifier) { v.scope = of }
}

// WithType replaces the type that chooses the operation: GitHub's event and its
// action as one word, for instance. Its error is treated as that of [WithScope].
func WithType(of func(*http.Request, idem.Delivery) (string, error)) Option {
	return func(v *Verifier) { v.typeOf = of }
}

// WithClock replaces the machine's clock, for tests.
func WithClock(now func() time.Time) Option { return func(v *Verifier) { v.now = now } }

func newVerifier(s scheme, secret string, options []Option) *Verifier {
	v := &Verifier{secrets: []string{secret}, tolerance: Tolerance, now: time.Now, scheme: s, prefix: "webhook"}
	for _, option := range options {
		option(v)
	}
	for i, secret := range v.secrets {
		key, err := s.key(secret)
		if err == nil && len(key) == 0 {
			err = errors.New("is empty")
		}
		if err != nil {
			v.broken = fmt.Errorf("webhook: secret %d %w", i+1, err)
			break
		}
		v.keys = append(v.keys, key)
	}
	return v
}

// Check reports a secret that is empty or can't be read, by its place. The constructor
// of an emitted service asks; until then such a Verifier refuses everything.
func (v *Verifier) Check() error { return v.broken }

// Verify implements idem.Verifier.
func (v *Verifier) Verify(r *http.Request, body []byte) (idem.Delivery, error) {
	if v.broken != nil {
		return idem.Delivery{}, v.broken
	}
	if err := v.scheme.verify(v, r.Header, body); err != nil {
		return idem.Delivery{}, fmt.Errorf("webhook: %w", err)
	}
	d, err := v.scheme.read(v, r.Header, body)
	if err != nil {
		return idem.Delivery{}, err
	}
	d.JSON = body
	if v.typeOf != nil {
		if d.Type, err = v.typeOf(r, d); err != nil {
			return idem.Delivery{}, err
		}
	}
	if v.scope != nil {
		if d.Scope, err = v.scope(r, d); err != nil {
			return idem.Delivery{}, err
		}
	}
	return d, nil
}

// signedBy reports whether one of the signatures is one of message by one of the keys.
// How long it takes depends on how many there are, not on what they are.
func (v *Verifier) signedBy(signatures [][]byte, message ...[]byte) bool {
	found := false
	for _, key := range v.keys {
		mac := hmac.New(sha256.New, key)
		for _, part := range message {
			mac.Write(part)
		}
		sum := mac.Sum(nil)
		for _, signature := range signatures {
			found = hmac.Equal(sum, signature) || found
		}
	}
	return found
}

var (
	errSignature = errors.New("no signature is one of the raw body by a known secret")
	errTime      = errors.New("the signed time is too far from now")
)

// fresh compares the signed time with now.
func (v *Verifier) fresh(seconds int64) error {
	if v.tolerance < 0 {
		return nil
	}
	age := v.now().Sub(time.Unix(seconds, 0))
	if age > v.tolerance || age < -v.tolerance {
		return errTime
	}
	return nil
}

// single is the value of a header that has to be there once.
func single(h http.Header, name string) (string, error) {
	values := h.Values(name)
	if len(values) != 1 || values[0] == "" {
		return "", fmt.Errorf("header %s is there %d times or empty; it has to be there once", name, len(values))
	}
	return values[0], nil
}

// unreadable is an authentic delivery that is not what the system sends.
func unreadable(what string) error {
	return &idem.Error{Status: http.StatusBadRequest, Code: "delivery-invalid", Title: "The delivery can't be read", Detail: what}
}

// texts reads members of the document that are texts; those that are missing, or
// something else, are "". One that is there twice says two things: the delivery would be
// taken for another one, or for one that nobody wants.
func texts(body []byte, names ...string) ([]string, error) {
	out := make([]string, len(names))
	seen := make([]bool, len(names))
	err := eachMember(body, func(name string, value json.RawMessage) error {
		i := slices.Index(names, name)
		if i < 0 {
			return nil
		}
		if seen[i] {
			return unreadable("The member " + name + " is there twice.")
		}
		seen[i] = true
		_ = json.Unmarshal(value, &out[i]) // not a text: ""
		return nil
	})
	return out, err
}

// eachMember calls f for the members of the document, in their order.
func eachMember(body []byte, f func(name string, value json.RawMessage) error) error {
	if !json.Valid(body) || !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return unreadable("The body is not a JSON object.")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err != nil {
			break
		}
		if err = d.Decode(&value); err != nil {
			break
		}
		if err := f(name.(string), value); err != nil {
			return err
		}
	}
	if err != nil { // valid JSON never ends here
		return unreadable("The body is not a JSON object.")
	}
	return nil
}

// plain is a secret that is the key itself.
func plain(secret string) ([]byte, error) { return []byte(secret), nil }
