package idem

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const sectionMark = "-- statement: "

// sections cuts an operation's .sql file: from the line after a mark up to the
// next mark, white space at the ends apart.
func sections(text string) (map[string]string, error) {
	found := map[string]string{}
	name := ""
	var body strings.Builder
	flush := func() error {
		defer body.Reset()
		if name == "" {
			return nil // the head of the file
		}
		if _, twice := found[name]; twice {
			return fmt.Errorf("section %q occurs twice", name)
		}
		found[name] = strings.TrimSpace(body.String())
		return nil
	}
	for line := range strings.Lines(text) {
		next, isMark := strings.CutPrefix(line, sectionMark)
		if !isMark {
			body.WriteString(line)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		name = strings.TrimSpace(next)
	}
	return found, flush()
}

// query is a statement without its parameters.
type query struct {
	sql, name string
	binary    []int16
}

func newQuery(sql string) query {
	sum := sha256.Sum256([]byte(sql))
	return query{sql: sql, name: "idem_" + hex.EncodeToString(sum[:12])}
}

// answerFormats: of replayed, status, headers, body as text; the fingerprint as
// bytes, whatever bytea_output is.
var answerFormats = []int16{0, 0, 0, 0, 1}

func newAnswerQuery(sql string) query {
	q := newQuery(sql)
	q.binary = answerFormats
	return q
}

// newRecordQuery is newAnswerQuery of a record, which ends with its attempt.
func newRecordQuery(sql string) query {
	q := newQuery(sql)
	q.binary = append(slices.Clip(answerFormats), 0)
	return q
}

func (q query) with(params ...[]byte) statement {
	return statement{sql: q.sql, name: q.name, params: params, binary: q.binary}
}
