package spec

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// annotations reads the words of the query: comments behind its name line, also
// between and behind the lines of the statement.
func (r *chunkReader) annotations() {
	var all []found
	for _, t := range r.tokens[r.head+1:] {
		if a, ok := r.annotation(t); ok {
			all = append(all, a)
		}
	}
	r.decl.Annotated = slices.ContainsFunc(all, func(a found) bool {
		_, ours := lookup(a.word)
		return ours && a.sloppy == ""
	})
	r.firsts = map[string]diag.Pos{}
	for _, a := range all {
		r.apply(a)
	}
	r.decl.Decl.reachTool(inQuery, r.diags)
}

// apply reads one annotation into the declarations.
func (r *chunkReader) apply(a found) {
	w, ours := lookup(a.word)
	switch {
	case slices.Contains(foreign, a.word):
	case ours && a.sloppy != "":
		r.diags.Errorf(diag.AnnotationForm, a.wordAt, "this looks like @%s but is not one: an annotation %s", a.word, a.sloppy).
			Hint("write `-- @%s …` as a line of its own, in column 1", a.word)
	case ours:
		r.applyWord(w, a)
	case a.sloppy == "":
		r.unknownWord(a)
	}
}

func (r *chunkReader) applyWord(w word, a found) {
	if w.notYet {
		notYet(spelled(w.name, inQuery), a.wordAt, r.diags)
		return
	}
	if first, twice := r.firsts[w.name]; twice && w.once {
		r.diags.Errorf(diag.RepeatedWord, a.wordAt, "@%s stands twice", w.name).
			Hint("it stands first in line %d; keep one of the two", first.Line)
		return
	}
	r.firsts[w.name] = a.wordAt
	w.read(inQuery, a.wordAt, a.args, &r.decl.Decl, r.diags)
}

func notYet(what string, pos diag.Pos, diags *diag.List) {
	diags.Errorf(diag.NotYet, pos, "%s is not in this version yet", what).
		Hint("remove it, or wait for the version that has it")
}

// unknownWord is an error in a query of ours. Elsewhere it may be anybody's,
// and only a near miss of one of our words is worth a warning.
func (r *chunkReader) unknownWord(a found) {
	if !r.decl.Annotated {
		if near := diag.Nearest(a.word, wordNames()); near != "" && len(a.word) > 2 {
			r.diags.Warnf(diag.UnknownWord, a.wordAt, "@%s is ignored: it is not an annotation of idemgen", a.word).
				Hint("did you mean @%s?", near)
		}
		return
	}
	entry := r.diags.Errorf(diag.UnknownWord, a.wordAt, "unknown annotation @%s", a.word)
	if near := nearestWord(a.word); near != "" {
		entry.Hint("did you mean @%s?", near)
		return
	}
	entry.Hint("annotations are @%s; begin other comments with another character", strings.Join(wordNames(), " @"))
}

// describe takes the plain comment lines between the name line and the first
// token of the statement.
func (r *chunkReader) describe() {
	var lines []string
	for _, t := range r.tokens[r.head+1 : max(r.body, r.head+1)] {
		_, annotation := r.annotation(t)
		if annotation || t.kind != tokenLineComment || !r.file.columnZero(t.start) {
			continue
		}
		text := strings.TrimPrefix(strings.TrimPrefix(r.text(t), "--"), " ")
		if strings.Trim(text, "-=*_# ") == "" {
			text = "" // a ruler parts paragraphs
		}
		lines = append(lines, strings.TrimRight(text, " \t"))
	}
	r.decl.Description = strings.TrimSpace(strings.Join(lines, "\n"))
}
