package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/idem"
)

// Standard verifies webhooks that follow Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
// the headers webhook-id, webhook-timestamp and webhook-signature, with symmetric
// signatures (v1). The secret is "whsec_" and base64, or base64 alone. The id is
// webhook-id, the type the document's member `type`, unless [WithType] says otherwise.
func Standard(secret string, options ...Option) *Verifier {
	return newVerifier(scheme{key: standardKey, verify: verifyStandard, read: readStandard}, secret, options)
}

// WithHeaderPrefix is for systems that name the headers of Standard Webhooks
// differently: WithHeaderPrefix("svix") takes svix-id, svix-timestamp and svix-signature.
func WithHeaderPrefix(prefix string) Option { return func(v *Verifier) { v.prefix = prefix } }

func standardKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, errors.New("is not base64, with or without whsec_ ahead")
	}
	return key, nil
}

func verifyStandard(v *Verifier, h http.Header, body []byte) error {
	var values [3]string
	for i, name := range []string{"-id", "-timestamp", "-signature"} {
		var err error
		if values[i], err = single(h, v.prefix+name); err != nil {
			return err
		}
	}
	var signatures [][]byte
	for part := range strings.FieldsSeq(values[2]) {
		version, text, _ := strings.Cut(part, ",")
		if signature, err := base64.StdEncoding.DecodeString(text); err == nil && version == "v1" {
			signatures = append(signatures, signature)
		}
	}
	if !v.signedBy(signatures, []byte(values[0]), []byte("."), []byte(values[1]), []byte("."), body) {
		return errSignature
	}
	seconds, err := strconv.ParseInt(values[1], 10, 64)
	if err != nil {
		return errors.New(v.prefix + "-timestamp is no time")
	}
	return v.fresh(seconds)
}

func readStandard(v *Verifier, h http.Header, body []byte) (idem.Delivery, error) {
	found, err := texts(body, "type")
	if err != nil {
		return idem.Delivery{}, err
	}
	if found[0] == "" && v.typeOf == nil {
		return idem.Delivery{}, unreadable("The document has no type.")
	}
	return idem.Delivery{ID: h.Get(v.prefix + "-id"), Type: found[0]}, nil
}
