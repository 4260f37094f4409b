package review

import (
	"fmt"
	"strings"
)

// commentLimit is the size in characters that a comment on GitHub may have.
const commentLimit = 65536

// Mark is the first line of a comment, by which a workflow finds its own.
const Mark = "<!-- idemgen review -->"

// Markdown is the report as a comment for a pull request: everything, or, where
// that is more than GitHub takes, without the SQL, or the findings alone.
func (r *Report) Markdown() string {
	for _, detail := range []detail{full, noSQL, findingsOnly} {
		if text := r.comment(detail, len(r.Findings)); len([]rune(text)) <= commentLimit {
			return text
		}
	}
	const most = 100
	return r.comment(findingsOnly, most)
}

type detail int

const (
	full detail = iota
	noSQL
	findingsOnly
)

func (r *Report) comment(d detail, most int) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n### %s\n\n%s.\n\n", Mark, mdText(r.Title()), mdText(upperFirst(r.Since())))
	r.findingsMarkdown(b, most)
	if d == findingsOnly {
		b.WriteString("The changes are too many for a comment: run `idemgen review` with the same `--base`.\n")
		return b.String()
	}
	for _, c := range r.Changes {
		c.markdown(b, d)
	}
	if d == noSQL {
		b.WriteString("The SQL is left out: all of it is too long for a comment.\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *Report) findingsMarkdown(b *strings.Builder, most int) {
	if len(r.Findings) == 0 {
		return
	}
	var rows [][]string
	for i, f := range r.Findings {
		if i == most {
			rows = append(rows, []string{"", "", fmt.Sprintf("and %d more", len(r.Findings)-most), ""})
			break
		}
		level := "note"
		if f.Severity == Risk {
			level = "**risk**"
		}
		rows = append(rows, []string{level, mdText(f.Operation), mdCode(f.Rule) + " " + mdText(f.Message), mdText(f.Means) + " " + mdText(f.Way)})
	}
	mdTable(b, []string{"", "operation", "what", "why, and what to do"}, rows)
}

func (c Change) markdown(b *strings.Builder, d detail) {
	body := &strings.Builder{}
	if len(c.Fields) > 0 {
		rows := make([][]string, len(c.Fields))
		for i, f := range c.Fields {
			rows[i] = []string{f.Name, mdText(f.Before), mdText(f.After)}
		}
		mdTable(body, []string{"", "before", "now"}, rows)
	}
	if c.Kind == "added" {
		c.Now.summaryMarkdown(body)
	}
	if c.Now != nil {
		body.WriteString(mdFence("mermaid", mermaid(c.Now.actors(), c.Now.diagram)) + "\n")
	}
	switch {
	case d != full:
	case c.Diff != "":
		body.WriteString(mdFence("diff", c.Diff))
	case c.Kind == "added":
		body.WriteString(mdFence("sql", c.Now.SQL))
	}
	title := mdText(c.Operation) + ", " + c.Kind
	if c.Was != "" {
		title += ", was " + mdText(c.Was)
	}
	if body.Len() == 0 {
		b.WriteString(title + "\n\n")
		return
	}
	fold(b, title, strings.TrimRight(body.String(), "\n")+"\n")
}

// summaryMarkdown is what to know of a new operation.
func (op *Operation) summaryMarkdown(b *strings.Builder) {
	var rows [][]string
	for _, f := range op.facts(nil) {
		rows = append(rows, []string{f.Name, mdText(f.Value)})
	}
	mdTable(b, []string{"", ""}, rows)
	op.answersMarkdown(b)
	op.locksMarkdown(b)
}
