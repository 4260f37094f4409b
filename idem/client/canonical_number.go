package client

import (
	"errors"
	"strconv"
	"strings"
)

// maxExponent bounds the digits of an exponent, as it is given and as it is written,
// so that sums of exponents stay integers in every language.
const maxExponent = 9

var errExponent = errors.New("a number's exponent has more than nine digits")

// appendNumber writes a JSON number by its exact value: [-]DIGITS[eINTEGER].
func appendNumber(dst []byte, number string) ([]byte, error) {
	rest, negative := strings.CutPrefix(number, "-")
	mantissa, power, err := splitExponent(rest)
	if err != nil {
		return dst, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return append(dst, '0'), nil
	}
	trimmed := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(trimmed) - len(fraction))
	if power <= -1e9 || power >= 1e9 {
		return dst, errExponent
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(dst, trimmed...)
	if power != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), power, 10)
	}
	return dst, nil
}

func splitExponent(number string) (mantissa string, power int64, err error) {
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return number, 0, nil
	}
	exponent := strings.TrimPrefix(number[i+1:], "+")
	if len(strings.TrimLeft(exponent, "-0")) > maxExponent {
		return "", 0, errExponent
	}
	power, err = strconv.ParseInt(exponent, 10, 64)
	return number[:i], power, err
}
