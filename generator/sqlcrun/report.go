package sqlcrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

var (
	placed       = regexp.MustCompile(`^(.+?):(\d+):(\d+): (.*)$`)
	unknownField = regexp.MustCompile(`field (\S+) not found`)
	goTrouble    = regexp.MustCompile(`^(go: |go run: |# github\.com/)`)
)

// report turns what a failed sqlc printed into diagnostics. It returns an
// error where sqlc never came to look at the input.
func report(opts Options, w *work, g *group, argv []string, output string, failed error) error {
	var rest []string
	trouble, found := false, false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := placed.FindStringSubmatch(line); m != nil && strings.HasSuffix(m[1], ".sql") {
			found = true
			pos := position(w.original(opts.Tree, m[1]), m[2], m[3])
			if aboutEdited(m[4]) {
				pos.Line, pos.Col = 0, 0 // they count in a text that the user never sees
			}
			g.diags.Errorf(diag.SqlcFailed, pos, "sqlc: %s", m[4]).Hint("%s", hintFor(m[4]))
			continue
		}
		switch {
		case line == "", strings.HasPrefix(line, "exit status "), strings.HasPrefix(line, "# package"), strings.HasPrefix(line, "go: downloading "):
		case goTrouble.MatchString(line):
			trouble = true
			rest = append(rest, line)
		default:
			rest = append(rest, strings.TrimSpace(line))
		}
	}
	if found {
		return nil
	}
	if len(opts.Command) > 0 && notStarted(failed) {
		at := opts.place("command", opts.Command[0], diag.Pos{File: g.config})
		g.diags.Errorf(diag.ConfigValue, at, "the program %s, which is to run sqlc, can't be started", opts.Command[0]).
			Hint("install it, correct its name, or leave `command:` out: idemgen then runs %s", Pinned)
		return nil
	}
	name := strings.Join(argv[:len(argv)-3], " ")
	if trouble || len(rest) == 0 {
		return fmt.Errorf("sqlc could not be run (%s): %w\n%s\ninstall sqlc (https://docs.sqlc.dev/en/latest/overview/install.html), or name one in idemgen.yaml under `sqlc: {files: […], command: […]}`",
			name, failed, strings.Join(rest, "\n"))
	}
	message := strings.Join(rest, " ")
	if _, after, ok := strings.Cut(strings.Join(rest, "\n"), "error generating code: "); ok {
		message, _, _ = strings.Cut(after, "\n") // the rest is the code that it failed on
	}
	g.diags.Errorf(diag.SqlcFailed, configPos(opts, g.config, message), "sqlc: %s", message).
		Hint("`sqlc generate -f %s` shows it without idemgen", g.config)
	return nil
}

// notStarted reports whether there is no such program to start.
func notStarted(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

func position(file, line, col string) diag.Pos {
	pos := diag.Pos{File: file}
	pos.Line, _ = strconv.Atoi(line)
	pos.Col, _ = strconv.Atoi(col)
	return pos
}

// aboutEdited reports whether a message is about the query after sqlc replaced
// the parameters in it.
func aboutEdited(message string) bool {
	return strings.HasPrefix(message, "edited query syntax is invalid") || strings.HasPrefix(message, "edit st")
}

// hintFor is the way out of sqlc's most common errors.
func hintFor(message string) string {
	switch {
	case strings.Contains(message, "does not exist"):
		return "sqlc knows what the migrations under `schema:` make: look for a typing error, or add the migration"
	case strings.HasSuffix(message, "is ambiguous"):
		return "write the table's name, or its alias, ahead of the column, as in payments.id: sqlc looks through WITH too, and finds the same column there"
	case strings.Contains(message, "duplicate query name"):
		return "rename one of the two queries"
	case aboutEdited(message):
		return "one of the file's parameters can't be replaced, and sqlc does not say which: look for @name with two casts, or with a keyword for a name; sqlc.arg(name) is another way to write it"
	case strings.Contains(message, "syntax error"):
		return "sqlc counts the column from the start of the statement's own text; the error is at or before the word it names"
	}
	return "this is sqlc's own message: `sqlc compile` shows it without idemgen"
}

// configPos is the place in the user's sqlc file that a message is about. The
// lines of the message are those of the derived file, so only a key's name helps.
func configPos(opts Options, config, message string) diag.Pos {
	if m := unknownField.FindStringSubmatch(message); m != nil {
		if text, err := opts.Tree.Read(config); err == nil {
			return keyPos(config, text, m[1])
		}
	}
	return diag.Pos{File: config, Line: 1, Col: 1}
}
