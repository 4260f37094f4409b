// Package yamltree reads YAML as a tree whose every node knows its exact place,
// and turns what does not fit into diagnostics. idemgen.yaml, the sqlc files and
// the endpoint specs are read through it.
package yamltree

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/diag"
)

// maxDepth bounds nesting: an alias that contains itself is endless.
const maxDepth = 100

// ByteOrderMark is what some editors begin a UTF-8 file with. It belongs to no
// line: columns count from behind it.
const ByteOrderMark = "\ufeff"

// Node is one node of a document. Aliases are followed already.
type Node struct {
	node  *yaml.Node
	file  *file
	depth int
}

// file is what the nodes of one document share.
type file struct {
	name   string
	lines  []string
	diags  *diag.List
	budget int // nodes still to be visited: aliases can multiply a small text
	spent  bool
}

// Parse reads one document. It reports false, with a diagnostic, for text that
// is no YAML, for an empty document and for a second one. Diagnostics of every
// method of the tree go to diags.
func Parse(name string, text []byte, diags *diag.List) (Node, bool) {
	text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
	f := &file{name: name, lines: strings.Split(string(text), "\n"), diags: diags, budget: 4*len(text) + 1000}
	top := diag.Pos{File: name, Line: 1, Col: 1}
	if !utf8.Valid(text) {
		diags.Errorf(diag.ConfigSyntax, top, "the file is not UTF-8").
			Hint("save it as UTF-8 in your editor, or convert it: iconv -f UTF-16 -t UTF-8")
		return Node{}, false
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc, second yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && isNull(&doc) {
		diags.Errorf(diag.ConfigMissing, top, "the file is empty").
			Hint("begin with version: 1 if it is idemgen.yaml, with version: \"2\" if it is a sqlc file, with endpoints: if it is an endpoint spec")
		return Node{}, false
	}
	if err == nil {
		if err = decoder.Decode(&second); errors.Is(err, io.EOF) {
			return f.wrap(doc.Content[0], 0), true
		}
		if err == nil {
			diags.Errorf(diag.ConfigSyntax, f.pos(&second, 1), "a second YAML document; the file may hold one").
				Hint("remove the line `---` and join the two")
			return Node{}, false
		}
	}
	f.syntax(err)
	return Node{}, false
}

func isNull(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null"
}

var parserError = regexp.MustCompile(`^did not find expected (<document start>|',' or|key|'-' indicator|node content)`)

var yamlError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

// syntax reports an error of the YAML library at the line that it names.
func (f *file) syntax(err error) {
	m := yamlError.FindStringSubmatch(err.Error())
	line := 1
	if n, convErr := strconv.Atoi(m[1]); convErr == nil {
		if parserError.MatchString(m[2]) {
			n++ // the library counts lines from 0 in these messages, from 1 in others
		}
		line = min(max(n, 1), len(f.lines))
	}
	pos := diag.Pos{File: f.name, Line: line, Col: 1, Width: len(strings.TrimRight(f.lines[line-1], "\r"))}
	if a := unknownAnchor.FindStringSubmatch(m[2]); a != nil {
		pos = f.find("*"+a[1], pos) // the library does not say where
	}
	entry := f.diags.Errorf(diag.ConfigSyntax, pos, "not valid YAML: %s", m[2])
	switch {
	case strings.HasPrefix(strings.TrimLeft(f.lines[line-1], " "), "\t"):
		entry.Hint("indent with spaces: YAML has no tabs")
	case strings.Contains(m[2], "mapping values are not allowed"):
		entry.Hint("put a value that holds a colon and a space into quotes")
	case unknownAnchor.MatchString(m[2]):
		entry.Hint("write &NAME before the value that *NAME repeats; a text that begins with * stands in quotes")
	case strings.Contains(m[2], "already defined"):
		entry.Hint("keep one of the two")
	case strings.Contains(m[2], "control characters"):
		entry.Hint("remove the characters that can't be seen, or write them as \"\\x01\"")
	default:
		entry.Hint("look for a bracket or a quote that is not closed, and for a line that is indented differently from its neighbours; the error may be further down")
	}
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)

// find is the first place of a text, or otherwise.
func (f *file) find(text string, otherwise diag.Pos) diag.Pos {
	for i, line := range f.lines {
		if col := strings.Index(line, text); col >= 0 {
			return diag.Pos{File: f.name, Line: i + 1, Col: col + 1, Width: len(text)}
		}
	}
	return otherwise
}

func (f *file) wrap(n *yaml.Node, depth int) Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return Node{node: n, file: f, depth: depth}
}

// pos is the place of n; the library counts characters, we count bytes.
func (f *file) pos(n *yaml.Node, width int) diag.Pos {
	p := diag.Pos{File: f.name, Line: max(n.Line, 1), Col: 1}
	p.Line = min(p.Line, len(f.lines))
	line := f.lines[p.Line-1]
	for i := 1; i < n.Column && p.Col <= len(line); i++ {
		_, size := utf8.DecodeRuneInString(line[p.Col-1:])
		p.Col += size
	}
	p.Width = max(min(width, len(line)-p.Col+1), 0)
	return p
}

// enter counts a visit and refuses endless documents.
func (n Node) enter() bool {
	n.file.budget--
	if n.file.budget > 0 && n.depth <= maxDepth {
		return true
	}
	if !n.file.spent {
		n.file.spent = true
		n.file.diags.Errorf(diag.ConfigSyntax, n.Pos(), "the aliases of this document make it endless or far too large").
			Hint("write the values out where the aliases (*name) stand")
	}
	return false
}
