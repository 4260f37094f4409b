package idem

import (
	"strings"
	"unicode/utf8"
)

// canonText turns text into the canonical text of a scalar kind. lenient is for
// text that Go values were written in: PostgreSQL's own forms are taken too.
func canonText(k Kind, s string, lenient bool) (string, *valueFault) {
	switch k {
	case KindText:
		return canonString(s)
	case KindBool:
		return canonBool(s, lenient)
	case KindInt2, KindInt4, KindInt8:
		return canonInteger(k, s)
	case KindNumeric:
		return canonNumeric(s)
	case KindFloat4, KindFloat8:
		if word, ok := floatWords[s]; ok && lenient {
			s = word
		}
		return canonFloat(k, s)
	case KindUUID:
		return canonUUID(s)
	case KindTimestamptz, KindTimestamp, KindDate, KindTime:
		return canonTime(k, s, lenient)
	case KindInterval:
		parsed, fault := parseSpan(s)
		if fault != nil {
			return "", fault
		}
		return parsed.text(), nil
	case KindBytea:
		if lenient {
			return canonHex(s)
		}
		return canonBytea(s)
	default:
		return canonDocument(s)
	}
}

// floatWords are PostgreSQL's words for what Go writes.
var floatWords = map[string]string{"+Inf": "Infinity", "-Inf": "-Infinity"}

// canonString refuses what PostgreSQL's text can't hold.
func canonString(s string) (string, *valueFault) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", &valueFault{"nul", "must not contain the character U+0000"}
	}
	if !utf8.ValidString(s) {
		return "", &valueFault{"encoding", "must be valid UTF-8"}
	}
	return s, nil
}

func canonBool(s string, lenient bool) (string, *valueFault) {
	if lenient && len(s) == 1 {
		s = map[string]string{"t": "true", "f": "false"}[s]
	}
	if s != "true" && s != "false" {
		return "", wantKind(KindBool)
	}
	return s, nil
}

// canonDocument checks a JSON document that did not come inside a body. The
// text stays as it is.
func canonDocument(s string) (string, *valueFault) {
	sc := &jsonScanner{data: []byte(s)}
	if err := sc.skip(); err != nil {
		return "", &valueFault{"json", "must be a JSON document: " + err.Detail}
	}
	if err := sc.end(); err != nil {
		return "", &valueFault{"json", "must be one JSON document"}
	}
	if sc.unstorable != nil {
		return "", sc.unstorable
	}
	return strings.TrimSpace(s), nil
}

// printText is the form of a scalar that the fingerprint is made of: the
// canonical text, except where the text sent keeps more than the value.
func printText(k Kind, text string) string {
	switch k {
	case KindNumeric:
		if d, ok, fits := parseDecimal(text); ok && fits {
			return d.text()
		}
	case KindJSON, KindRecord:
		return canonJSON(text)
	}
	return text
}

// compareTexts compares canonical texts of an ordered kind.
func compareTexts(k Kind, a, b string) int {
	switch k {
	case KindInterval:
		return compareSpans(a, b)
	case KindTimestamptz, KindTimestamp, KindDate, KindTime:
		return compareTimes(a, b)
	default:
		return compareNumbers(a, b)
	}
}

// compareTimes relies on the fixed width of canonical times.
func compareTimes(a, b string) int {
	rank := map[string]int{"-infinity": -1, "infinity": 1}
	if c := cmpInt(rank[a], rank[b]); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
