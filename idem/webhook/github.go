package webhook

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/idemgen/idemgen/idem"
)

// GitHub verifies GitHub's webhooks
// (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries): the
// header X-Hub-Signature-256; the older SHA-1 is not taken. The content type of the
// webhook has to be application/json. The id is X-GitHub-Delivery, which a redelivery
// keeps; the type is X-GitHub-Event. GitHub signs the body alone, neither a time nor these
// headers: whoever has seen a delivery could send it again under another id. Where that
// matters, declare an @intent.
func GitHub(secret string, options ...Option) *Verifier {
	return newVerifier(scheme{key: plain, verify: verifyGitHub, read: readGitHub}, secret, options)
}

func verifyGitHub(v *Verifier, h http.Header, body []byte) error {
	header, err := single(h, "X-Hub-Signature-256")
	if err != nil {
		return err
	}
	digits, found := strings.CutPrefix(header, "sha256=")
	signature, err := hex.DecodeString(digits)
	if !found || err != nil {
		return errors.New("X-Hub-Signature-256 is not of the form sha256=…")
	}
	if !v.signedBy([][]byte{signature}, body) {
		return errSignature
	}
	return nil
}

func readGitHub(_ *Verifier, h http.Header, _ []byte) (idem.Delivery, error) {
	return fromHeaders(h, "X-GitHub-Delivery", "X-GitHub-Event")
}

// fromHeaders reads id and type of a system that has them in headers.
func fromHeaders(h http.Header, id, kind string) (d idem.Delivery, err error) {
	if d.ID, err = single(h, id); err != nil {
		return d, unreadable("The header " + id + " has to be there once.")
	}
	if d.Type, err = single(h, kind); err != nil {
		return d, unreadable("The header " + kind + " has to be there once.")
	}
	return d, nil
}
