package diag

import (
	"fmt"
	"io"
	"strings"
)

// RenderOptions say how diagnostics look.
type RenderOptions struct {
	Color bool // ANSI colours, for terminals
	// Width is the number of columns of the terminal: excerpts of longer lines are
	// cut on both sides of the place. 0: nothing is cut.
	Width int
}

// Render writes diagnostics as text, each with its source line and a caret
// under the place. Source gives the text of a file and reports whether it is
// known; it may be nil. The only error is that of w.
func Render(w io.Writer, ds []Diagnostic, source func(file string) (string, bool), opts RenderOptions) error {
	p := &printer{style: plain, source: source, lines: map[string][]string{}, explained: map[Code]bool{}, width: opts.Width}
	if opts.Color {
		p.style = coloured
	}
	for _, d := range ds {
		p.diagnostic(d)
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// style holds the escape sequences of one look.
type style struct{ err, warning, place, caret, reset string }

var (
	plain    = style{}
	coloured = style{err: "\x1b[1;31m", warning: "\x1b[1;33m", place: "\x1b[1m", caret: "\x1b[32m", reset: "\x1b[0m"}
)

type printer struct {
	out       strings.Builder
	style     style
	source    func(string) (string, bool)
	lines     map[string][]string
	explained map[Code]bool
	width     int
}

func (p *printer) diagnostic(d Diagnostic) {
	colour := p.style.err
	if d.Severity == Warning {
		colour = p.style.warning
	}
	if !d.Pos.IsZero() {
		fmt.Fprintf(&p.out, "%s%s:%s ", p.style.place, d.Pos, p.style.reset)
	}
	fmt.Fprintf(&p.out, "%s%s[%s]:%s %s\n", colour, d.Severity, d.Code, p.style.reset, visible(d.Message))
	p.excerpt(d.Pos)
	if d.Hint != "" {
		fmt.Fprintf(&p.out, "  hint: %s\n", indent(visible(d.Hint), "        "))
	}
	// Once per code: a run with forty findings of one kind needs it once.
	if _, ok := Explain(d.Code); ok && !p.explained[d.Code] {
		p.explained[d.Code] = true
		fmt.Fprintf(&p.out, "  more: idemgen explain %s\n", d.Code)
	}
}

// excerpt prints the line that pos names and, if there is a column, the caret.
func (p *printer) excerpt(pos Pos) {
	line, ok := p.line(pos)
	if !ok {
		return
	}
	number := fmt.Sprintf("%4d", pos.Line)
	if p.width > 0 {
		line, pos.Col = window(line, pos.Col, pos.Width, p.width-len(number)-len(" | "))
	}
	fmt.Fprintf(&p.out, "%s | %s\n", number, visible(line))
	if pos.Col == 0 {
		return
	}
	pad, mark := caret(line, pos.Col, pos.Width)
	fmt.Fprintf(&p.out, "%s | %s%s%s%s\n", strings.Repeat(" ", len(number)), pad, p.style.caret, mark, p.style.reset)
}

func (p *printer) line(pos Pos) (string, bool) {
	if p.source == nil || pos.File == "" || pos.Line < 1 {
		return "", false
	}
	lines, known := p.lines[pos.File]
	if !known {
		if text, ok := p.source(pos.File); ok {
			lines = strings.Split(text, "\n")
		}
		p.lines[pos.File] = lines
	}
	if pos.Line > len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[pos.Line-1], "\r"), true
}

func indent(s, by string) string { return strings.ReplaceAll(s, "\n", "\n"+by) }
