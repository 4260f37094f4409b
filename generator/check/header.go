package check

import (
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// urlHeaders hold URLs: values in them are percent-encoded.
var urlHeaders = []string{"Location", "Link"}

var absolutePrefix = regexp.MustCompile(`^https?://[^/?#{}]+(/|$)`)

// headers resolves every @header.
func (b *builder) headers() {
	for _, h := range b.d.words.Headers {
		b.header(h)
	}
}

func (b *builder) headerError(h spec.Header, hint, message string, args ...any) {
	b.diags.Errorf(diag.HeaderForm, h.Pos, message, args...).Hint("%s", hint)
}

func (b *builder) header(h spec.Header) {
	name := textproto.CanonicalMIMEHeaderKey(h.Name)
	parts := template(h.Template)
	out := model.Header{Name: h.Name, URL: slices.Contains(urlHeaders, name)}
	if name == "Location" && !safeLocation(parts) {
		b.headerError(h, `begin with a literal "/" or "https://host/"`, "the template of Location lets a value choose the host")
		return
	}
	step, meant := b.headerStep(parts)
	for _, p := range parts {
		if p.Name != "" {
			if !meant && b.ambiguous(h, p.Name) {
				return
			}
			column, ok := b.headerColumn(h, step, p.Name)
			if !ok {
				return
			}
			p.Name = column
		}
		out.Parts = append(out.Parts, p)
	}
	if step != nil {
		out.Step = step.Name
	}
	b.op.Headers = append(b.op.Headers, out)
}

// safeLocation refuses templates whose host a value could choose.
func safeLocation(parts []model.Part) bool {
	if len(parts) == 0 || parts[0].Text == "" {
		return false
	}
	first := parts[0].Text
	if strings.HasPrefix(first, "/") {
		return !strings.HasPrefix(first, "//") && !strings.HasPrefix(first, `/\`)
	}
	return absolutePrefix.MatchString(first) && (len(parts) == 1 || strings.Count(first, "/") > 2)
}

// rowsWith are the steps whose single row has a column.
func (b *builder) rowsWith(column string) []string {
	var names []string
	for _, s := range b.op.Steps {
		if s.Query.Command == "one" && s.Each == nil && columnNamed(s.Query, column) != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// ambiguous refuses a column that several steps return, where nothing says which
// row is meant.
func (b *builder) ambiguous(h spec.Header, name string) bool {
	steps := b.rowsWith(name)
	if len(steps) < 2 {
		return false
	}
	forms := make([]string, len(steps))
	for i, s := range steps {
		forms[i] = "{" + s + "." + name + "}"
	}
	b.headerError(h, "write "+strings.Join(forms, " or "), "the header %s names the column %s, which several steps return", h.Name, name)
	return true
}

// headerHint is the way out where a step does not return the column of a header.
func (b *builder) headerHint(step *model.Step, name string) string {
	if other, column, ok := strings.Cut(name, "."); ok && slices.Contains(b.rowsWith(column), other) {
		return "all columns of a header come from one step: return " + column + " from " + step.Name + " too"
	}
	if steps := b.rowsWith(name); len(steps) > 0 {
		return "write {" + steps[len(steps)-1] + "." + name + "}: that step returns it"
	}
	return didYouMean(name, columnNames(step.Query), "column")
}

// headerStep is the step whose row fills a template: the one it names, as in
// {InsertOrder.id}, else the response's; meant is false where neither says so,
// and it is the last with a single row.
func (b *builder) headerStep(parts []model.Part) (step *model.Step, meant bool) {
	for _, p := range parts {
		if name, _, ok := strings.Cut(p.Name, "."); ok {
			for _, s := range b.op.Steps {
				if s.Name == name && len(b.op.Steps) > 1 {
					return s, true
				}
			}
		}
	}
	var last *model.Step
	for _, s := range b.op.Steps {
		if s.Name == b.op.Response.Step {
			return s, true
		}
		if s.Query.Command == "one" && s.Each == nil && s.Go == nil {
			last = s
		}
	}
	if last == nil {
		return b.op.Steps[len(b.op.Steps)-1], false
	}
	return last, false
}

// headerColumn checks one {column} of a template.
func (b *builder) headerColumn(h spec.Header, step *model.Step, name string) (string, bool) {
	name = strings.TrimPrefix(name, step.Name+".")
	if step.Go != nil {
		b.headerError(h, "name a column of a query's row: {STEP.column}", "%s is a Go step, which fills no header", step.Name)
		return "", false
	}
	if step.Query.Command != "one" || step.Each != nil {
		b.headerError(h, "only the row of a :one query can fill a header", "%s does not return exactly one row", step.Name)
		return "", false
	}
	col := columnNamed(step.Query, name)
	switch {
	case col == nil:
		b.diags.Errorf(diag.ColumnUnknown, h.Pos, "the header %s names the column %s, which %s does not return", h.Name, name, step.Query.Name).
			Hint("%s", b.headerHint(step, name))
	case len(col.Embed) > 0 || col.Type.Array || slices.Contains([]model.Kind{model.KindJSON, model.KindBytea}, col.Type.Kind):
		b.headerError(h, "use a column of text, a number, a uuid or a time", "%s is %s, which a header can't hold", name, describe(col.Type))
	default:
		return name, true
	}
	return "", false
}
