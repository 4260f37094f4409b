package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/idemgen/idemgen/idem"
)

// Shopify verifies Shopify's webhooks
// (https://shopify.dev/docs/apps/build/webhooks/subscribe/https): the header
// X-Shopify-Hmac-Sha256. The secret is the app's client secret. The id is
// X-Shopify-Event-Id, which Shopify tells receivers to find duplicates by; two
// subscriptions to one topic share it. The type is X-Shopify-Topic, "orders/create" for
// one. [WithScope] can take the shop from X-Shopify-Shop-Domain; but Shopify signs the
// body alone, so the headers are only as true as the way they came.
func Shopify(secret string, options ...Option) *Verifier {
	return newVerifier(scheme{key: plain, verify: verifyShopify, read: readShopify}, secret, options)
}

func verifyShopify(v *Verifier, h http.Header, body []byte) error {
	header, err := single(h, "X-Shopify-Hmac-Sha256")
	if err != nil {
		return err
	}
	signature, err := base64.StdEncoding.DecodeString(header)
	if err != nil {
		return errors.New("X-Shopify-Hmac-Sha256 is not base64")
	}
	if !v.signedBy([][]byte{signature}, body) {
		return errSignature
	}
	return nil
}

func readShopify(_ *Verifier, h http.Header, _ []byte) (idem.Delivery, error) {
	return fromHeaders(h, "X-Shopify-Event-Id", "X-Shopify-Topic")
}
