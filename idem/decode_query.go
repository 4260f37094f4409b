package idem

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

func (d *decoder) decodePath(r request, values []Value, faults *faultList) {
	for _, f := range d.path {
		v, fault := f.fromTexts([]string{r.path(f.Name)}, false)
		faults.add(f.pointer, fault)
		values[f.index] = v
	}
}

// decodeQuery reads the query string: application/x-www-form-urlencoded, an
// array as its parameter repeated. It is read here, since net/url drops what
// it can't read.
func (d *decoder) decodeQuery(raw string, values []Value, faults *faultList) *Error {
	if raw == "" {
		return nil
	}
	texts, err := d.queryTexts(raw)
	if err != nil {
		return err
	}
	for _, f := range d.queryList {
		if texts[f] == nil {
			continue
		}
		v, fault := f.fromTexts(texts[f], false)
		faults.add(f.pointer, fault)
		values[f.index] = v
	}
	return nil
}

// queryTexts takes the query string apart.
func (d *decoder) queryTexts(raw string) (map[*boundField][]string, *Error) {
	texts := make(map[*boundField][]string, len(d.query))
	var unknown []FieldError
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, text, err := queryPair(pair)
		if err != nil {
			return nil, err
		}
		f := d.query[name]
		switch {
		case f == nil:
			unknown = appendUnknown(unknown, name)
		case !f.Array && len(texts[f]) > 0:
			return nil, badQuery("query-duplicate", "query parameter "+quoteShort(name)+" occurs more than once")
		default:
			texts[f] = append(texts[f], text)
		}
	}
	if len(unknown) > 0 && !d.ignore {
		err := badQuery("query-unknown", "")
		err.Title, err.Fields = "The query has parameters that the operation does not know", unknown
		return nil, err
	}
	return texts, nil
}

func appendUnknown(list []FieldError, name string) []FieldError {
	if len(list) >= maxFieldErrors {
		return list
	}
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	return append(list, FieldError{Pointer: "query:" + name, Code: "unknown", Detail: "is not a parameter of this request"})
}

func queryPair(pair string) (name, text string, problem *Error) {
	rawName, rawText, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(rawName)
	if err == nil {
		text, err = url.QueryUnescape(rawText)
	}
	if err != nil {
		return "", "", badQuery("query-malformed", "bad percent-encoding in the query")
	}
	if !utf8.ValidString(name) || !utf8.ValidString(text) {
		return "", "", badQuery("query-malformed", "the query is not valid UTF-8")
	}
	return name, text, nil
}

func badQuery(code, detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Title: "The query string can't be read", Detail: detail}
}

// decodeHeader reads the declared header fields. A list is one line per
// element or comma-separated (RFC 9110 section 5.3); other fields occur once.
func (d *decoder) decodeHeader(header http.Header, values []Value, faults *faultList) *Error {
	for _, f := range d.header {
		lines := header.Values(f.Name)
		if len(lines) == 0 {
			continue
		}
		if !f.Array && len(lines) > 1 {
			return badHeader("header-duplicate", f.Name+" occurs more than once")
		}
		if f.Array {
			lines = splitLines(lines)
		}
		for _, line := range lines {
			if !utf8.ValidString(line) {
				return badHeader("header-malformed", f.Name+" is not valid UTF-8")
			}
		}
		v, fault := f.fromTexts(lines, false)
		faults.add(f.pointer, fault)
		values[f.index] = v
	}
	return nil
}

func splitLines(lines []string) []string {
	var all []string
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.Trim(part, " \t"); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

func badHeader(code, detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Title: "A header field can't be read", Detail: detail}
}
