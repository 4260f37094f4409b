package review

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What Mermaid's grammar of sequence diagrams accepts of what we write:
// https://mermaid.js.org/syntax/sequenceDiagram.html. A text may hold no raw ;
// # < > or control characters: ; and a line end end a statement, # begins an
// entity.
var (
	mermaidWords    = `(?:[^;#<>"\x60\\&%\x00-\x1f]|#[0-9]+;)+`
	mermaidMessage  = regexp.MustCompile(`^(\w+)(?:->>|-->>)(\w+): ` + mermaidWords + `$`)
	mermaidNote     = regexp.MustCompile(`^Note over (\w+): ` + mermaidWords + `$`)
	mermaidBlock    = regexp.MustCompile(`^(alt|else) ` + mermaidWords + `$`)
	mermaidDeclared = regexp.MustCompile(`^participant (\w+) as [A-Za-z ]+$`)
)

// checkMermaid reports the first rule that a diagram breaks.
func checkMermaid(text string) error {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if lines[0] != "sequenceDiagram" {
		return fmt.Errorf("begins with %q", lines[0])
	}
	known, depth := map[string]bool{}, 0
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		var used []string
		switch {
		case mermaidDeclared.MatchString(line):
			known[mermaidDeclared.FindStringSubmatch(line)[1]] = true
		case mermaidMessage.MatchString(line):
			used = mermaidMessage.FindStringSubmatch(line)[1:3]
		case mermaidNote.MatchString(line):
			used = mermaidNote.FindStringSubmatch(line)[1:2]
		case mermaidBlock.MatchString(line):
			if opens := strings.HasPrefix(line, "alt "); opens {
				depth++
			} else if depth == 0 {
				return fmt.Errorf("line %d: else outside alt", i+2)
			}
		case line == "end":
			depth--
		default:
			return fmt.Errorf("line %d is no statement: %q", i+2, line)
		}
		for _, name := range used {
			if !known[name] {
				return fmt.Errorf("line %d: no participant %s", i+2, name)
			}
		}
		if depth < 0 {
			return fmt.Errorf("line %d: end without alt", i+2)
		}
	}
	if depth != 0 {
		return fmt.Errorf("%d blocks are open at the end", depth)
	}
	return nil
}

var mermaidFence = regexp.MustCompile("(?s)```mermaid\n(.*?)```")

// TestDiagramsAreMermaid checks every diagram that was emitted.
func TestDiagramsAreMermaid(t *testing.T) {
	checked := 0
	for _, file := range []string{"testdata/REVIEW.md", "testdata/comment.md", "../../example-service/internal/api/REVIEW.md", "../../bench/internal/api/REVIEW.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mermaidFence.FindAllStringSubmatch(string(text), -1) {
			if err := checkMermaid(m[1]); err != nil {
				t.Errorf("%s: %v\n%s", file, err, m[1])
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d diagrams", checked)
	}
}

// hostile are texts that would break out of where they are put.
var hostile = []string{
	"a; b # c", "x\nend\nalt y", "</details><script>alert(1)</script>", "| a | `b` |", "\"q\" <b> & %%{init}%%", "end", "\u0000\u2028\u2029",
	"```", "--> @everyone", "wrap: x", "{{.}}", "größe ✓ 字",
}

func TestDiagramsHoldHostileTexts(t *testing.T) {
	for _, text := range hostile {
		events := []event{{kind: send, from: client, to: service, text: "says " + text}, {kind: alt, text: "if " + text}, {kind: note, from: database, text: "is " + text}, {kind: end}}
		drawn := mermaid([]actor{client, service, database}, events)
		if err := checkMermaid(drawn); err != nil {
			t.Errorf("%q: %v\n%s", text, err, drawn)
		}
		if strings.Count(drawn, "\n") != 8 {
			t.Errorf("%q: %d lines:\n%s", text, strings.Count(drawn, "\n"), drawn)
		}
	}
}
