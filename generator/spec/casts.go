package spec

import (
	"slices"
	"strings"
)

// parameter reports what sqlc's rewriting of @name to $1 breaks on: a name that
// is a value to PostgreSQL, and a second cast behind the first. Its message
// would name a place that is not in the file.
func (r *chunkReader) parameter(t token, index int) {
	if index+1 >= len(r.tokens) || r.tokens[index+1].kind != tokenWord || r.tokens[index+1].start != t.end {
		return
	}
	name := r.tokens[index+1]
	at := t.end - 1
	if slices.Contains(valueWords, strings.ToLower(r.text(name))) {
		r.corrupt(at, name.end-at, "PostgreSQL reads "+r.text(name)+" as a value, so sqlc can't make a parameter of @"+r.text(name),
			"give the parameter another name: @"+r.text(name)+"_value")
		return
	}
	first, next := r.cast(index + 2)
	if first == "" {
		return
	}
	if second, end := r.cast(next); second != "" {
		param := "@" + r.text(name)
		r.corrupt(at, r.tokens[end-1].end-at, "sqlc breaks a parameter with two casts: "+param+"::"+first+"::"+second,
			"put parentheses around the first: ("+param+"::"+first+")::"+second)
	}
}

// valueWords are the keywords that stand for a value.
var valueWords = strings.Fields(`true false null user session_user system_user current_user current_role current_catalog
	current_schema current_date current_time current_timestamp localtime localtimestamp`)

// typeWords go on with the name of a type: double precision, timestamp with
// time zone.
var typeWords = []string{"precision", "varying", "with", "without", "time", "zone"}

// cast reads ::type at a token: the type's text, "" where there is no cast, and
// the index behind it.
func (r *chunkReader) cast(i int) (typ string, next int) {
	if !r.is(i, ":") || !r.is(i+1, ":") {
		return "", i
	}
	start := i + 2
	i = start
	for i < len(r.tokens) && (r.tokens[i].kind == tokenWord || r.tokens[i].kind == tokenQuoted) {
		i++
		switch {
		case r.is(i, "."):
			i++
			continue
		case r.is(i, "("):
			i = r.behind(i, ")")
		}
		if i >= len(r.tokens) || !slices.Contains(typeWords, strings.ToLower(r.text(r.tokens[i]))) {
			break
		}
	}
	for r.is(i, "[") {
		i = r.behind(i, "]")
	}
	if i == start {
		return "", start
	}
	return r.file.text[r.tokens[start].start:r.tokens[i-1].end], i
}

func (r *chunkReader) is(i int, text string) bool {
	return i < len(r.tokens) && r.text(r.tokens[i]) == text
}

// behind is the index behind the next token of that text.
func (r *chunkReader) behind(i int, text string) int {
	for i < len(r.tokens) && !r.is(i, text) {
		i++
	}
	return min(i+1, len(r.tokens))
}
