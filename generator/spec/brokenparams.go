package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/sqltext"
)

// brokenParams reports the parameters of which sqlc would make something else,
// mostly without a word, or with an error that names no place. What other
// rules have reported at the same place is left out.
func (r *chunkReader) brokenParams() {
	shift := r.file.starts[r.decl.SQL.Line-1]
	for _, b := range sqltext.BrokenParams(r.decl.SQL.Text) {
		at := shift + b.Start
		if r.reported[at] {
			continue
		}
		text := b.In(r.decl.SQL.Text)
		message, hint := brokenParam(b, text)
		r.diags.Errorf(diag.ParamBroken, r.file.pos(at, len(text)), "%s", message).Hint("%s", hint)
	}
}

// brokenParam is what to say of a parameter with that text.
func brokenParam(b sqltext.BrokenParam, text string) (message, hint string) {
	text = strings.Join(strings.Fields(text), " ")
	switch b.Kind {
	case sqltext.BrokenTighter:
		return "PostgreSQL reads " + text + " " + b.Next + " … as the operator @ before all of that, so sqlc would make one broken parameter of it",
			"write (" + typed(text) + ") " + b.Next + " … or sqlc.arg(" + b.Name + ")"
	case sqltext.BrokenName:
		return "sqlc can't make a parameter of " + text + ": the @ and one plain name have to stand together", "write " + plainly(b.Name)
	case sqltext.BrokenCall:
		return "sqlc would replace a wrong piece of the text for " + text + ": the argument has to be one plain name, directly before the parenthesis",
			"write " + strings.ToLower(text[:strings.IndexByte(text, '(')]) + "(" + nameOr(b.Name) + ")"
	}
	return "sqlc takes every operator @ for a parameter, and this one stands before no name",
		"write abs(…) for an absolute value, OPERATOR(public.@) for an operator of an extension, @name for a parameter"
}

// typed is the text of a parameter with a cast: in parentheses PostgreSQL
// often can't tell a type.
func typed(text string) string {
	if strings.Contains(text, "::") {
		return text
	}
	return text + "::bigint"
}

func nameOr(name string) string {
	if name == "" {
		return "name"
	}
	return name
}

// plainly is the parameter of a name, as sqlc understands it.
func plainly(name string) string {
	if !isIdent(name) {
		return "@name"
	}
	return "@" + name
}
