package schema

import (
	"path"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// CheckGoose refuses files of a goose folder that goose would refuse, or pass
// over: idemgen adds numbered migrations there, and goose applies them after
// all that have a smaller number.
func CheckGoose(files []File, diags *diag.List) {
	for _, f := range files {
		if number, _ := versionOf(f.Path); number >= 0 {
			checkGooseFile(f, diags)
			continue
		}
		diags.Errorf(diag.MigrationForm, diag.Pos{File: f.Path, Line: 1, Col: 1},
			"%s has no number, so goose does not apply it in any order", path.Base(f.Path)).
			Hint("name it like 00001_%s; or move it out of the folder of migrations", path.Base(f.Path))
	}
}

// checkGooseFile follows goose's marks through a file.
func checkGooseFile(f File, diags *diag.List) {
	l := newLines(f)
	refuse := func(line int, hint, format string, v ...any) {
		pos := l.pos(l.starts[line], 0)
		pos.Width = len(strings.TrimSpace(lineAt(f.Text, l, line)))
		diags.Errorf(diag.MigrationForm, pos, format, v...).Hint("%s", hint)
	}
	const up = "-- +goose Up"
	section, begun := false, -1
	for n := range l.starts {
		mark := gooseMark.FindStringSubmatch(lineAt(f.Text, l, n))
		if mark == nil {
			continue
		}
		switch word := strings.ToUpper(mark[1]); {
		case word == "UP" && section:
			refuse(n, "write its statements under the first one", "-- +goose Up stands twice")
			return
		case word == "DOWN" && !strings.HasPrefix(lineAt(f.Text, l, n), "-- +goose Down"):
			refuse(n, "write -- +goose Down at the beginning of the line", "sqlc does not see this mark, and would apply what is below it")
			return
		case word == "UP" || word == "DOWN":
			if begun >= 0 {
				refuse(begun, "write -- +goose StatementEnd behind the statement", "this StatementBegin has no StatementEnd before -- +goose %s", mark[1])
				return
			}
			if word == "DOWN" && !section {
				refuse(n, "write "+up+" and its statements first", "-- +goose Down stands before -- +goose Up")
				return
			}
			section = true
		case word == "STATEMENTBEGIN" && begun >= 0:
			refuse(begun, "write -- +goose StatementEnd behind the statement", "this StatementBegin has no StatementEnd before the next one")
			return
		case word == "STATEMENTBEGIN":
			begun = n
		case word == "STATEMENTEND" && begun < 0:
			refuse(n, "write -- +goose StatementBegin before the statement", "this StatementEnd has no StatementBegin")
			return
		case word == "STATEMENTEND":
			begun = -1
		case word != "NO" && word != "ENVSUB":
			refuse(n, "goose knows Up, Down, StatementBegin, StatementEnd, NO TRANSACTION and ENVSUB", "goose does not know the mark %s", mark[1])
			return
		}
	}
	switch {
	case begun >= 0:
		refuse(begun, "write -- +goose StatementEnd behind the statement", "this StatementBegin has no StatementEnd")
	case !section:
		refuse(0, "begin it with "+up, "this migration has no %s, so goose refuses it", up)
	}
}

func lineAt(text string, l lines, n int) string {
	if n+1 < len(l.starts) {
		return text[l.starts[n] : l.starts[n+1]-1]
	}
	return text[l.starts[n]:]
}
