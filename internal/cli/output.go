package cli

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/generator/diag"
)

// diagnostics writes findings to stderr in the chosen format. Their paths are
// those that the shell understands, -C included.
func (a *app) diagnostics(ds []diag.Diagnostic) {
	if len(ds) == 0 {
		return
	}
	switch a.format {
	case "json":
		a.diagnosticsJSON(ds)
	case "github":
		for _, d := range ds {
			a.say("%s", a.workflowCommand(d))
		}
	default:
		source := generator.Source(a.dir)
		shown := map[string]string{}
		moved := make([]diag.Diagnostic, len(ds))
		for i, d := range ds {
			moved[i] = d
			moved[i].Pos.File = a.shown(d.Pos.File)
			shown[moved[i].Pos.File] = d.Pos.File
		}
		// Writing to stderr can't be reported anywhere better.
		_ = diag.Render(a.env.Stderr, moved, func(file string) (string, bool) { return source(shown[file]) },
			diag.RenderOptions{Color: a.colored(), Width: a.env.ErrWidth})
	}
}

// shown is a path of the tree as seen from where the command was started.
func (a *app) shown(file string) string {
	if file == "" || a.dir == "" || a.dir == "." {
		return file
	}
	return path.Join(filepath.ToSlash(a.dir), file)
}

func (a *app) colored() bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.env.Terminal && a.env.Getenv("NO_COLOR") == ""
}

type diagnosticJSON struct {
	Code     diag.Code     `json:"code"`
	Severity diag.Severity `json:"severity"`
	File     string        `json:"file,omitempty"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Width    int           `json:"width,omitempty"`
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
}

// diagnosticsJSON writes one JSON object per line.
func (a *app) diagnosticsJSON(ds []diag.Diagnostic) {
	enc := json.NewEncoder(a.env.Stderr)
	enc.SetEscapeHTML(false)
	for _, d := range ds {
		_ = enc.Encode(diagnosticJSON{d.Code, d.Severity, a.shown(d.Pos.File), d.Pos.Line, d.Pos.Col, d.Pos.Width, d.Message, d.Hint})
	}
}

// workflowCommand is a diagnostic as a GitHub Actions annotation; see GitHub's
// "Workflow commands", which also has the escapes.
func (a *app) workflowCommand(d diag.Diagnostic) string {
	var props []string
	if d.Pos.File != "" {
		props = append(props, "file="+property(a.shown(d.Pos.File)))
	}
	if d.Pos.Line > 0 {
		props = append(props, fmt.Sprintf("line=%d", d.Pos.Line))
	}
	if d.Pos.Col > 0 {
		props = append(props, fmt.Sprintf("col=%d", d.Pos.Col))
	}
	props = append(props, "title="+string(d.Code))
	text := d.Message
	if d.Hint != "" {
		text += "\nhint: " + d.Hint
	}
	return fmt.Sprintf("::%s %s::%s", d.Severity, strings.Join(props, ","), escaped(text))
}

// property is the value of a workflow command's property.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// escaped is the text of a workflow command.
func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}
