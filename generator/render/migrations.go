package render

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/schema"
	"github.com/idemgen/idemgen/generator/sqltext"
	runtimeschema "github.com/idemgen/idemgen/schema"
	"github.com/idemgen/idemgen/templates"
)

func migrations(folder string, cat *schema.Catalog, intents []*model.Intent, schedule, now string) ([]files.File, error) {
	set, err := template.ParseFS(templates.FS, "migration/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	m := &migrationWriter{folder: folder, numbers: newNumbers(cat.Numbering, now), templates: set}
	if err := m.runtime(cat.Runtime); err != nil {
		return nil, err
	}
	if err := m.intents(cat, intents); err != nil {
		return nil, err
	}
	if err := m.sweep(cat.Sweep, schedule); err != nil {
		return nil, err
	}
	return m.files, nil
}

type migrationWriter struct {
	folder    string
	numbers   *numbers
	templates *template.Template
	files     []files.File
}

// intents adds the migrations of intents that nothing holds yet, one for each.
func (m *migrationWriter) intents(cat *schema.Catalog, intents []*model.Intent) error {
	made := map[string]bool{}
	for _, intent := range intents {
		id := intentID(intent)
		if !intent.Missing || made[id] || cat.Markers[id] != "" {
			continue
		}
		made[id] = true
		if err := m.render(fileWord(intent.Table.Name)+"_intent", "intent.sql.tmpl", newIntentView(id, intent)); err != nil {
			return fmt.Errorf("the migration of intent %s: %w", id, err)
		}
	}
	return nil
}

// render adds the migration that a template makes of a view.
func (m *migrationWriter) render(name, file string, view any) error {
	var body bytes.Buffer
	if err := m.templates.ExecuteTemplate(&body, file, view); err != nil {
		return fmt.Errorf("render %s: %w", file, err)
	}
	return m.add(name, body.Bytes())
}

// runtime adds the migrations of the runtime's tables that come after version
// have: each is marked, so that it is found again under any name and number.
func (m *migrationWriter) runtime(have int) error {
	names, err := fs.Glob(runtimeschema.FS, "*.sql") // sorted
	if err != nil {
		return fmt.Errorf("read the runtime's migrations: %w", err)
	}
	for i, name := range names {
		version := i + 1
		if version <= have {
			continue
		}
		content, err := runtimeschema.FS.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the runtime's migration %s: %w", name, err)
		}
		_, base, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		marked := fmt.Appendf(nil, "-- idemgen: runtime %d\n%s", version, content)
		if err := m.add(base, marked); err != nil {
			return err
		}
	}
	return nil
}

func (m *migrationWriter) add(name string, content []byte) error {
	number, err := m.numbers.next()
	if err != nil {
		return err
	}
	m.files = append(m.files, files.File{
		Path:    path.Join(m.folder, number+"_"+name+".sql"),
		Content: content,
		Once:    true,
	})
	return nil
}

// intentView is what templates/migration/intent.sql.tmpl prints.
type intentView struct {
	ID             string
	Table          string
	ColumnList     string
	Where          string // as SQL
	WhereNote      string // on one line of a comment
	WhereQuery     string // in the commented query
	Index          string
	QualifiedIndex string // an index lives in its table's schema
	Partitioned    bool
}

func newIntentView(id string, i *model.Intent) intentView {
	columns := make([]string, len(i.Columns))
	for n, c := range i.Columns {
		columns[n] = sqltext.QuoteIdent(c)
	}
	return intentView{
		ID:             id,
		Table:          quoteTable(i.Table),
		ColumnList:     strings.Join(columns, ", "),
		Where:          strings.TrimSpace(i.Where),
		WhereNote:      oneLine(i.Where),
		WhereQuery:     strings.ReplaceAll(strings.TrimSpace(i.Where), "\n", "\n--   "),
		Index:          sqltext.QuoteIdent(i.Index),
		QualifiedIndex: quoteTable(model.TableName{Schema: i.Table.Schema, Name: i.Index}),
		Partitioned:    i.Partitioned,
	}
}

func quoteTable(t model.TableName) string {
	if t.Schema == "" || t.Schema == "public" {
		return sqltext.QuoteIdent(t.Name)
	}
	return sqltext.QuoteIdent(t.Schema) + "." + sqltext.QuoteIdent(t.Name)
}

// fileWord makes a table's name fit for a file name.
func fileWord(table string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(table))
}
