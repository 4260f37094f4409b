package check

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/generator/model"
)

var (
	numberForm   = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
	uuidForm     = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
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
	if len(t.Enum) > 0 && !slices.Contains(t.Enum, out) {
		return "", fmt.Errorf("it must be one of %s", strings.Join(t.Enum, ", "))
	}
	if t.Length > 0 && utf8.RuneCountInString(out) > t.Length {
		return "", fmt.Errorf("it is longer than %d characters", t.Length)
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
		if !numberForm.MatchString(text) {
			return "", errors.New("it is not a number")
		}
		return strings.TrimPrefix(text, "+"), nil
	case model.KindUUID:
		if !uuidForm.MatchString(text) {
			return "", errors.New("it is not a uuid")
		}
		return strings.ToLower(text), nil
	case model.KindTimestamptz:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return "", errors.New("it is not an RFC 3339 time")
		}
		return at.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
	case model.KindTimestamp:
		return canonicalTime(text, "2006-01-02T15:04:05", "2006-01-02T15:04:05.000000")
	case model.KindDate:
		return canonicalTime(text, time.DateOnly, time.DateOnly)
	case model.KindTime:
		return canonicalTime(text, time.TimeOnly, "15:04:05.000000")
	case model.KindInterval:
		if !intervalForm.MatchString(text) {
			return "", errors.New("it is not an ISO 8601 duration")
		}
		return text, nil
	case model.KindBytea:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", errors.New("it is not base64")
		}
		return `\x` + hex.EncodeToString(raw), nil
	case model.KindJSON:
		if !json.Valid([]byte(text)) {
			return "", errors.New("it is not JSON")
		}
		return text, nil
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

func canonicalTime(text, in, out string) (string, error) {
	at, err := time.Parse(in, text)
	if err != nil {
		return "", errors.New("it does not look like " + in)
	}
	return at.Format(out), nil
}
