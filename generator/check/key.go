package check

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// key settles where the operation's key comes from: its own rule, else the
// configuration's for the method, else the method's.
func (b *builder) key() {
	decl := b.d.words.Key
	switch {
	case b.op.Webhook != nil:
		b.deliveryKey(decl)
		return
	case b.op.Consumer != nil:
		b.messageKey(decl)
		return
	}
	own := decl != nil
	if !own && b.readingTool() {
		b.op.Key = model.Key{From: "none"}
		return
	}
	if !own {
		if k, ok := b.in.Config.DefaultKeys[b.op.Method]; ok {
			decl = &k
		}
	}
	if decl == nil {
		b.op.Key = b.methodKey()
		return
	}
	b.op.Key = model.Key{From: decl.From}
	if isRead(b.op.Method) && decl.From != "none" {
		b.keyError(decl, "a %s runs nothing twice that matters, so it has no key", "remove @key, or use POST", b.op.Method)
		b.op.Key.From = "none"
		return
	}
	switch decl.From {
	case "header":
		b.op.Key.Required = b.needsKey()
		if decl.Required != nil {
			b.op.Key.Required = *decl.Required
		}
	case "intent":
		b.intentAsKey(decl)
	case "source":
		b.op.Key.Source = b.keySource(decl)
	}
	b.prefix(decl)
}

// keyless refuses the source `key` where there is none.
func (b *builder) keyless() {
	for _, src := range b.keyUses {
		if !b.op.Key.Protects() {
			b.diags.Errorf(diag.KeyRule, src.Pos, "%s has no key to bind", b.op.Name).Hint("add @key header, or bind another source")
		}
	}
}

// needsKey is what a key of the header means where it says neither required nor
// optional.
func (b *builder) needsKey() bool { return config.NeedsKey(b.in.Config.Profile) }

// methodKey is the rule of a method (requirement A8).
func (b *builder) methodKey() model.Key {
	switch b.op.Method {
	case "POST", "PATCH":
		return model.Key{From: "header", Required: b.needsKey()}
	case "PUT", "DELETE":
		return model.Key{From: "header"}
	}
	return model.Key{From: "none"}
}

func (b *builder) keyError(decl *spec.Key, message, hint string, args ...any) {
	b.diags.Errorf(diag.KeyRule, decl.Pos, message, args...).Hint("%s", hint)
}

// intentAsKey checks that the intent's columns come with the request, the same
// at every try.
func (b *builder) intentAsKey(decl *spec.Key) {
	i := slices.IndexFunc(b.op.Steps, func(s *model.Step) bool { return s.Intent != nil })
	if i < 0 {
		if !b.declaresIntent() {
			b.keyError(decl, "@key intent needs an @intent", "add @intent TABLE (COLUMNS) to the statement")
		}
		return
	}
	step := b.op.Steps[i]
	feeds := intentFeeds(step, step.Intent)
	for _, column := range step.Intent.Columns {
		param, ok := feeds[column]
		if !ok {
			b.keyError(decl, "the intent's column %s is not a parameter, so it can't be part of a key", "insert it as @"+column+", or use another key", column)
			return
		}
		switch src := step.Args[param-1]; src.Kind {
		case model.SourceInput, model.SourceScope, model.SourceLiteral, "":
		default:
			b.keyError(decl, "the intent's column %s comes from %s, which is no part of the request", "bind it to the request, or use another key", column, src.Kind)
			return
		}
	}
}

func (b *builder) declaresIntent() bool {
	return slices.ContainsFunc(b.d.steps, func(s stepDecl) bool { return s.words.Intent != nil })
}

// keySource resolves the source of a key: a value that every request has and
// that is the same at every try.
func (b *builder) keySource(decl *spec.Key) model.Source {
	src := decl.Source
	if src.Kind == spec.SourceCaller {
		in := b.callerField(src.Path[0], model.Type{}, src.Pos)
		b.inputs[inputKey{model.FromCaller, in.Name}] = in
		return model.Source{Kind: model.SourceInput, Input: in}
	}
	key, ok := b.requestKey(src)
	if !ok {
		return model.Source{}
	}
	in := b.inputs[key]
	if in == nil && (key.from == model.FromBody || key.from == model.FromQuery) {
		b.diags.Errorf(diag.KeyRule, src.Pos, "the key is %s, which is not an input of %s", key, b.op.Name).
			Hint("%s; a key that no parameter takes comes as a header: @key header", didYouMean(key.name, b.inputNames(key.from), "other input of that kind"))
		return model.Source{}
	}
	if in == nil {
		in = b.input(key, textType(), src.Pos, key.name)
	}
	switch {
	case in.Type.Array || in.Type.Kind == model.KindJSON || in.Type.Kind == model.KindRecord:
		b.diags.Errorf(diag.KeyRule, src.Pos, "%s is %s, which can't be a key", key, describe(in.Type)).Hint("use a single value")
	case in.HasAsked || in.Default != nil || in.Type.Nullable && key.from != model.FromPath:
		b.diags.Errorf(diag.KeyRule, src.Pos, "%s may be missing, and then there would be no key", key).
			Hint("make its parameter NOT NULL and without default, or use another key")
	}
	return model.Source{Kind: model.SourceInput, Input: in}
}

func textType() model.Type {
	return model.Type{Kind: model.KindText, Name: "text", GoType: model.GoType{Expr: "string"}}
}

// prefix resolves prefix="…{name}…": path parameters become inputs.
func (b *builder) prefix(decl *spec.Key) {
	if decl.Prefix == "" {
		return
	}
	parts := template(decl.Prefix)
	for _, p := range parts {
		if p.Name == "" {
			continue
		}
		if !slices.Contains(b.pathParams, p.Name) {
			b.keyError(decl, "the prefix names {%s}, which is not a path parameter", didYouMean(p.Name, b.pathParams, "path parameter"), p.Name)
			return
		}
		key := inputKey{model.FromPath, p.Name}
		if b.inputs[key] == nil {
			b.input(key, textType(), decl.Pos, p.Name)
		}
	}
	b.op.Key.Prefix = parts
}

// template cuts text at its {names}. Its braces were judged when it was read.
func template(text string) (parts []model.Part) {
	for text != "" {
		before, rest, ok := strings.Cut(text, "{")
		if before != "" {
			parts = append(parts, model.Part{Text: before})
		}
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		parts, text = append(parts, model.Part{Name: name}), after
	}
	return parts
}
