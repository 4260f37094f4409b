package spec

import (
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// wordReader reads words that stand as keys of a YAML mapping.
type wordReader struct {
	where where
	decl  *Declarations
	diags *diag.List
}

// read parses the value of one word. A text has the annotation's grammar; words
// that may be repeated take a list of texts; words that begin with a name take
// a mapping from names; the policy takes a mapping, lists of names a list.
func (r *wordReader) read(e yamltree.Entry) {
	w, ok := lookup(e.Key.Value)
	switch {
	case !ok:
		return
	case w.notYet:
		notYet(spelled(w.name, r.where), e.Key.Pos, r.diags)
	case w.name == "example":
		r.example(w, e)
	case e.Value.IsNull():
		r.diags.Errorf(diag.SpecForm, e.Key.Pos, "`%s:` has no value", w.name).Hint("%s", w.howTo())
	case e.Value.IsMap() && w.named != nil:
		r.mapping(w, e.Value)
	case e.Value.IsMap() && w.name == "policy":
		r.policy(e)
	case e.Value.IsList() && !w.once:
		r.list(w, e.Value)
	default:
		r.text(w, e.Key.Pos, e.Value)
	}
}

func (r *wordReader) text(w word, at diag.Pos, n yamltree.Node) {
	text, ok := n.Text()
	if !ok {
		r.diags.Errorf(diag.SpecForm, n.Pos(), "`%s:` can't be %s", w.name, n.Kind()).Hint("%s", w.howTo())
		return
	}
	w.read(r.where, at, text, r.decl, r.diags)
}

// howTo is the form of a word's value, and one like it.
func (w word) howTo() string {
	return "write " + w.name + ": " + w.form + "; like " + w.name + ": " + w.example
}

func (r *wordReader) list(w word, n yamltree.Node) {
	elements, _ := n.List()
	for _, e := range elements {
		r.text(w, e.Pos(), e)
	}
}

// mapping reads NAME: ARGUMENTS entries.
func (r *wordReader) mapping(w word, n yamltree.Node) {
	entries, _ := n.Map()
	for _, e := range entries {
		name := Name{Value: e.Key.Value, Pos: e.Key.Pos}
		if e.Value.IsMap() && w.name == "bind" {
			r.longBind(w, name, e)
			continue
		}
		text, ok := e.Value.Text()
		if !ok {
			r.diags.Errorf(diag.SpecForm, e.Value.Pos(), "%s of `%s:` can't be %s", name.Value, w.name, e.Value.Kind()).
				Hint("write %s: {%s}", w.name, mappingForm(w.form))
			continue
		}
		if a, ok := newArgs(w.name, r.where, e.Key.Pos, text, r.diags); ok {
			w.runNamed(a, name, r.decl)
		}
	}
}

// mappingForm turns "NAME ARGUMENTS" into "NAME: ARGUMENTS".
func mappingForm(form string) string { return strings.Replace(form, " ", ": ", 1) }

// bindKeys are the keys of a bind's long form.
var bindKeys = append([]string{"source"}, bindOptions...)

// longBind reads PARAM: {source: …, default: …, min: …, max: …}.
func (r *wordReader) longBind(w word, name Name, e yamltree.Entry) {
	entries, ok := e.Value.Map()
	if !ok {
		return
	}
	b := Bind{Param: name}
	valid := isIdent(name.Value)
	if !valid {
		r.diags.Errorf(diag.AnnotationForm, name.Pos, "%q is not a parameter", name.Value).Hint("write %s: {%s}", w.name, mappingForm(w.form))
	}
	for _, k := range yamltree.Unknown(entries, bindKeys, "a bind", r.diags) {
		text, ok := k.Value.Text()
		if !ok {
			r.diags.Errorf(diag.SpecForm, k.Value.Pos(), "`%s:` of a bind takes a single value, this is %s", k.Key.Value, k.Value.Kind()).
				Hint("write %s: {source: body.%s, default: 'x', min: 1, max: 100}", name.Value, name.Value)
			valid = false
			continue
		}
		a := &args{word: "bind", where: r.where, text: text, wordAt: k.Key.Pos, diags: r.diags}
		if k.Key.Value == "source" {
			b.Source, ok = a.source(field{text: text.Value})
		} else {
			ok = a.setBindOption(&b, Name{Value: k.Key.Value, Pos: k.Key.Pos}, &Text{Value: text.Value, Pos: text.Pos})
		}
		valid = valid && ok
	}
	if contains(yamltree.Misspelt(entries, bindKeys), "source") {
		return // the unknown key is what is reported
	}
	if valid && b.Source.Kind == "" {
		r.diags.Errorf(diag.SpecForm, name.Pos, "the bind of %s has no source", name.Value).Hint("add source: body.%s", name.Value)
		return
	}
	if valid {
		a := &args{word: "bind", where: r.where, diags: r.diags}
		a.addBind(b, r.decl)
	}
}

func (r *wordReader) policy(e yamltree.Entry) {
	entries, _ := e.Value.Map()
	r.decl.Policy = ReadPolicy(e.Key.Pos, entries, false, r.diags)
}

// example takes JSON as a text, or any YAML value as the document itself.
func (r *wordReader) example(w word, e yamltree.Entry) {
	if text, ok := e.Value.Text(); ok {
		w.read(r.where, e.Key.Pos, text, r.decl, r.diags)
		return
	}
	if doc, ok := e.Value.JSON(); ok {
		r.decl.Example = &Text{Value: doc, Pos: e.Value.Pos()}
	}
}

// ReadBinds parses `bind:` of idemgen.yaml.
func ReadBinds(n yamltree.Node, diags *diag.List) []Bind {
	d := &Declarations{}
	w, _ := lookup("bind")
	(&wordReader{where: inConfig, decl: d, diags: diags}).mapping(w, n)
	return d.Binds
}

// ReadKey parses a key rule of `defaults: {key: {METHOD: …}}`.
func ReadKey(text yamltree.Scalar, diags *diag.List) *Key {
	d := &Declarations{}
	w, _ := lookup("key")
	w.read(inConfig, text.Pos, text, d, diags)
	return d.Key
}
