package sqlcrun

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// kindError is how the YAML library says that a value has the wrong form.
var kindError = regexp.MustCompile(`line (\d+): cannot unmarshal !!(\w+)(?: ` + "`.*?`" + `)? into (\S+)`)

var yamlKinds = map[string]string{"map": "a mapping", "seq": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "a boolean", "null": "nothing"}

// wrongKind puts such an error into words, with the place of its line; "" for
// any other error.
func wrongKind(file string, text []byte, err error) (string, diag.Pos) {
	m := kindError.FindStringSubmatch(err.Error())
	if m == nil {
		return "", diag.Pos{}
	}
	wanted := "a mapping"
	switch {
	case strings.HasPrefix(m[3], "[]"):
		wanted = "a list"
	case m[3] == "string":
		wanted = "a text"
	case m[3] == "bool":
		wanted = "true or false"
	}
	pos := diag.Pos{File: file, Col: 1}
	pos.Line, _ = strconv.Atoi(m[1])
	if lines := strings.Split(string(text), "\n"); pos.Line >= 1 && pos.Line <= len(lines) {
		line := strings.TrimRight(lines[pos.Line-1], "\r")
		rest := strings.TrimLeft(line, " -")
		pos.Col, pos.Width = len(line)-len(rest)+1, len(rest)
	}
	return fmt.Sprintf("the sqlc file has %s where %s is wanted", yamlKinds[m[2]], wanted), pos
}
