package webhook

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/idem"
)

// Stripe verifies Stripe's webhooks (https://docs.stripe.com/webhooks/signatures): the
// header Stripe-Signature, v1 signatures only. The secret is the endpoint's,
// "whsec_…" as it is shown. Id and type are those of the event; the document is the
// event, so that a statement binds `body.data.object.id`.
func Stripe(secret string, options ...Option) *Verifier {
	return newVerifier(scheme{key: plain, verify: verifyStripe, read: readStripe}, secret, options)
}

func verifyStripe(v *Verifier, h http.Header, body []byte) error {
	header, err := single(h, "Stripe-Signature")
	if err != nil {
		return err
	}
	time, signatures, err := parseStripe(header)
	if err != nil {
		return err
	}
	if !v.signedBy(signatures, []byte(time), []byte("."), body) {
		return errSignature
	}
	seconds, err := strconv.ParseInt(time, 10, 64)
	if err != nil {
		return errors.New("Stripe-Signature: t is no time")
	}
	return v.fresh(seconds)
}

// parseStripe reads "t=1492774577,v1=5257a8…,v1=…,v0=…". Schemes that are not known are
// skipped, as Stripe asks for.
func parseStripe(header string) (time string, signatures [][]byte, err error) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !found:
			return "", nil, errors.New("Stripe-Signature is not of the form t=…,v1=…")
		case name == "t" && time != "":
			return "", nil, errors.New("Stripe-Signature has two times")
		case name == "t":
			time = value
		case name == "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	if time == "" || len(signatures) == 0 {
		return "", nil, errors.New("Stripe-Signature has no time, or no signature of version 1")
	}
	return time, signatures, nil
}

func readStripe(_ *Verifier, _ http.Header, body []byte) (idem.Delivery, error) {
	found, err := texts(body, "id", "type")
	if err != nil {
		return idem.Delivery{}, err
	}
	if found[0] == "" || found[1] == "" {
		return idem.Delivery{}, unreadable("The event has no id, or no type.")
	}
	return idem.Delivery{ID: found[0], Type: found[1]}, nil
}
