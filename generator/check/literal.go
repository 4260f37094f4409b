package check

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

var (
	numberForm   = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
	intervalForm = regexp.MustCompile(`^-?P(\d|T\d)[0-9YMWDTHS.\-]*$`)
)

// canonical casts a constant of an annotation to a type, the way PostgreSQL
// would, and writes it in the form that values of requests have.
func canonical(t model.Type, text string) (string, error) {
	if t.Array {
		if text == "{}" {
			return text, nil
		}
		return "", errors.New("the only constant of an array type is {}")
	}
	out, err := canonicalScalar(t, text)
	if err != nil {
		return "", err
	}
	if what := broken(t, out); what != "" {
		return "", errors.New("it " + what)
	}
	return out, nil
}

func canonicalScalar(t model.Type, text string) (string, error) {
	switch t.Kind {
	case model.KindText:
		return text, nil
	case model.KindBool:
		return canonicalBool(text)
	case model.KindInt2:
		return canonicalInt(text, 16)
	case model.KindInt4:
		return canonicalInt(text, 32)
	case model.KindInt8:
		return canonicalInt(text, 64)
	case model.KindNumeric, model.KindFloat4, model.KindFloat8:
		return canonicalNumber(t.Kind, text)
	case model.KindUUID:
		return canonicalUUID(text)
	case model.KindTimestamptz:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return "", errors.New("it is not an RFC 3339 time")
		}
		return at.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
	case model.KindTimestamp:
		return canonicalTime(text, "2006-01-02T15:04:05.000000", "2006-01-02T15:04:05", "2006-01-02T15:04")
	case model.KindDate:
		return canonicalTime(text, time.DateOnly, time.DateOnly)
	case model.KindTime:
		return canonicalTime(text, "15:04:05.000000", time.TimeOnly, "15:04")
	case model.KindInterval:
		if !intervalForm.MatchString(text) {
			return "", errors.New("it is not an ISO 8601 duration")
		}
		return text, nil
	case model.KindBytea:
		raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
		if err != nil {
			return "", errors.New("it is not base64")
		}
		return `\x` + hex.EncodeToString(raw), nil
	case model.KindJSON:
		return canonicalJSON(text)
	}
	return "", errors.New("this type has no constants")
}

func canonicalBool(text string) (string, error) {
	switch strings.ToLower(text) {
	case "true", "t":
		return "true", nil
	case "false", "f":
		return "false", nil
	}
	return "", errors.New("it is neither true nor false")
}

func canonicalInt(text string, bits int) (string, error) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return "", errors.New("it is not a whole number")
	}
	if _, err := strconv.ParseInt(n.String(), 10, bits); err != nil {
		return "", errors.New("it is out of range")
	}
	return n.String(), nil
}

// canonicalTime reads text in the first of the layouts that fits.
func canonicalTime(text, out string, layouts ...string) (string, error) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(out), nil
		}
	}
	return "", errors.New("it does not look like " + layouts[0])
}

func canonicalNumber(k model.Kind, text string) (string, error) {
	if !numberForm.MatchString(text) {
		return "", errors.New("it is not a number")
	}
	bits := map[model.Kind]int{model.KindFloat4: 32, model.KindFloat8: 64}[k]
	_, err := strconv.ParseFloat(text, max(bits, 32))
	if !reachable(text) || bits > 0 && err != nil {
		return "", errors.New("it is out of range")
	}
	return strings.TrimPrefix(text, "+"), nil
}

// canonicalUUID takes what PostgreSQL takes: letters of any case, hyphens or
// none, braces or none.
func canonicalUUID(text string) (string, error) {
	bare := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	bare = strings.TrimSuffix(strings.TrimPrefix(bare, "{"), "}")
	if raw, err := hex.DecodeString(bare); err != nil || len(raw) != 16 {
		return "", errors.New("it is not a uuid")
	}
	return strings.Join([]string{bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]}, "-"), nil
}

// canonicalJSON refuses what the runtime refuses in a document too.
func canonicalJSON(text string) (string, error) {
	if !json.Valid([]byte(text)) {
		return "", errors.New("it is not JSON")
	}
	if name, _, ok := spec.RepeatedMember(text); ok {
		return "", fmt.Errorf("its member %s stands twice", name)
	}
	return text, nil
}
