package review

import (
	"bytes"
	"fmt"
	"html/template"

	"github.com/idemgen/idemgen/templates"
)

// HTML is the report, and the whole review of the service as it is now, as one
// page that needs no network and no script.
func (r *Report) HTML() ([]byte, error) {
	page, err := template.New("page.html.tmpl").Funcs(template.FuncMap{
		"sql": highlightSQL, "diff": highlightDiff,
		"facts": func(op *Operation) []fact { return op.facts(r.Now) },
		"svg": func(op *Operation) template.HTML {
			return template.HTML(svg("Sequence of "+op.Name, op.actors(), op.diagram))
		},
		"sentences": func(op *Operation) []string { return sentences(op.diagram) },
		"key":       func(op *Operation) string { return op.keyWord() },
		"trips":     func(op *Operation) string { return op.tripsText() },
		"held":      func(op *Operation) string { return op.held() },
		"lockKind":  func(l Lock) string { return l.kindText() },
		"rules":     func(in Input) string { return in.rules() },
	}).ParseFS(templates.FS, "review/page.html.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return b.Bytes(), nil
}
