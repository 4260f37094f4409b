package sqlcrun

import (
	"bytes"
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/diag"
)

var yamlLine = regexp.MustCompile(`line (\d+): `)

// lineOf is the line that a YAML error names, 1 if it names none.
func lineOf(err error) int {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 1
	}
	n, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		return 1
	}
	return n
}

// plain is a YAML error on one line, without the library's prefix.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:")
	return strings.Join(strings.Fields(text), " ")
}

// find is the place of a key in a YAML text: line 1 if it isn't there.
func find(text []byte, key string) diag.Pos {
	at := regexp.MustCompile(`(?m)(^|[\s{,"'-])` + regexp.QuoteMeta(key) + `["']?\s*:`).FindIndex(text)
	if at == nil {
		return diag.Pos{Line: 1, Col: 1}
	}
	start := at[0] + bytes.Index(text[at[0]:at[1]], []byte(key))
	return diag.Pos{
		Line:  1 + bytes.Count(text[:start], []byte("\n")),
		Col:   start - bytes.LastIndexByte(text[:start], '\n'),
		Width: len(key),
	}
}

// cause is an error of the file system without the absolute path in it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// keyPos is the place of the value under a path of keys of a YAML mapping,
// otherwise where there is none.
func keyPos(file string, n *yaml.Node, otherwise diag.Pos, keys ...string) diag.Pos {
	for _, key := range keys {
		i := 0
		for i < len(n.Content) && n.Content[i].Value != key {
			i += 2
		}
		if n.Kind != yaml.MappingNode || i+1 >= len(n.Content) {
			return otherwise
		}
		n = n.Content[i+1]
	}
	pos := diag.Pos{File: file, Line: n.Line, Col: n.Column}
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		pos.Width = len(n.Value)
	}
	return pos
}
