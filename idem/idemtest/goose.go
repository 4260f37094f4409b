package idemtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Migrated makes an empty database, applies the goose migrations of a folder to
// it (the Up parts of its .sql files, by number), and returns where it is. The
// runtime's tables are made too, where they are not among the migrations. The
// database is dropped at the end of the test.
func Migrated(t testing.TB, folder string) string {
	t.Helper()
	files, err := migrationFiles(folder)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	at := URL(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("idemtest: %v", err)
		}
		// The template has the runtime's tables; a migration brings its own.
		if strings.Contains(string(text), runtimeMark) {
			execAt(t, at, "DROP SCHEMA IF EXISTS idem CASCADE")
			break
		}
	}
	for _, file := range files {
		if err := migrate(at, file); err != nil {
			t.Fatalf("idemtest: migration %s: %v", file, err)
		}
	}
	return at
}

// runtimeMark begins the generated migration that makes the runtime's tables.
const runtimeMark = "-- idemgen: runtime 1\n"

// migrationFiles are the migrations of a folder in goose's order.
func migrationFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int64{}
	var files []string
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || entry.IsDir() {
			continue // goose passes over it too
		}
		if filepath.Ext(entry.Name()) != ".sql" {
			if filepath.Ext(entry.Name()) == ".go" && !strings.HasSuffix(entry.Name(), "_test.go") {
				return nil, fmt.Errorf("%s is a migration in Go: only goose can run it", entry.Name())
			}
			continue
		}
		file := filepath.Join(folder, entry.Name())
		numbers[file] = n
		files = append(files, file)
	}
	slices.SortStableFunc(files, func(a, b string) int { return int(min(1, max(-1, numbers[a]-numbers[b]))) })
	return files, nil
}

// migrate executes one migration, in a transaction unless it says otherwise.
func migrate(at, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	statements, transaction, err := upStatements(string(text))
	if err != nil {
		return err
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if transaction {
		statements = slices.Concat([]string{"BEGIN"}, statements, []string{"COMMIT"})
	}
	for _, statement := range statements {
		if _, err := conn.PgConn().Exec(ctx, statement).ReadAll(); err != nil {
			return fmt.Errorf("%w\n%s", err, strings.TrimSpace(statement))
		}
	}
	return nil
}

// upStatements cuts the Up part of a goose migration into statements: they end
// with a line that ends in a semicolon, unless markers hold them together.
func upStatements(text string) (statements []string, transaction bool, err error) {
	transaction = true
	var current strings.Builder
	up, whole := false, false
	flush := func() {
		if hasSQL(current.String()) {
			statements = append(statements, current.String())
		}
		current.Reset()
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		line := lines.Text()
		switch marker(line) {
		case "Up":
			up = true
			continue
		case "Down":
			flush()
			return statements, transaction, nil
		case "StatementBegin":
			flush()
			whole = true
			continue
		case "StatementEnd":
			flush()
			whole = false
			continue
		case "NO TRANSACTION":
			transaction = false
			continue
		case "ENVSUB ON":
			return nil, false, fmt.Errorf("it wants environment variables put in: only goose does that")
		}
		if !up {
			continue
		}
		current.WriteString(line + "\n")
		if !whole && endsStatement(line) {
			flush()
		}
	}
	flush()
	return statements, transaction, lines.Err()
}

// marker is what goose is told by a comment line, "" for other lines.
func marker(line string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--")
	if !ok {
		return ""
	}
	word, ok := strings.CutPrefix(strings.TrimSpace(rest), "+goose ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(word)
}

// endsStatement: the last thing on the line before a comment is a semicolon.
func endsStatement(line string) bool {
	code, _, _ := strings.Cut(line, "--")
	return strings.HasSuffix(strings.TrimSpace(code), ";")
}

func hasSQL(statement string) bool {
	for line := range strings.Lines(statement) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--") {
			return true
		}
	}
	return false
}
