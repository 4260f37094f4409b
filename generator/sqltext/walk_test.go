package sqltext

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	pg "github.com/sqlc-dev/oliphant"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestWalkMissesNothing compares the walk by hand with one by reflection
// alone. Parts of names and types are of no interest to the former.
func TestWalkMissesNothing(t *testing.T) {
	for _, sql := range []string{
		benchSQL,
		"SELECT DISTINCT ON ($1) a.b[$2], count(*) FILTER (WHERE $3) OVER (PARTITION BY $4 ORDER BY $5), string_agg(x, $6 ORDER BY $7) FROM f($8) WITH ORDINALITY z(q), LATERAL (SELECT $9) l WHERE NOT (a AND b IS NULL OR $10) GROUP BY $11 HAVING $12 WINDOW w AS (ORDER BY $13) ORDER BY $14 LIMIT $15 OFFSET $16 FOR UPDATE OF z",
		"WITH a AS (VALUES ($1), ($2)) SELECT $3 UNION (SELECT CASE WHEN $4 THEN $5 ELSE $6 END FROM a JOIN b ON $7) EXCEPT SELECT ARRAY[$8, (SELECT $9 FROM deep)]",
		"UPDATE t SET (a, b) = ($1, $2), c[$3] = $4 FROM u WHERE x IN ($5, $6) AND y BETWEEN $7 AND $8 RETURNING coalesce($9, greatest($10))",
		"INSERT INTO t SELECT x::text FROM y ON CONFLICT (a) WHERE $1 DO UPDATE SET b = $2 WHERE $3 RETURNING $4",
	} {
		result, err := pg.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		note := func(m proto.Message) string {
			name := string(m.ProtoReflect().Descriptor().Name())
			if p, ok := m.(*pg.ParamRef); ok {
				name += fmt.Sprint(p.Number)
			}
			return name
		}
		Walk(result, func(m proto.Message) bool {
			got = append(got, note(m))
			return true
		})
		reflectWalk(result.ProtoReflect(), func(m proto.Message) { want = append(want, note(m)) })
		dull := func(s string) bool {
			switch s {
			case "String", "TypeName", "Alias", "A_Star", "Node", "Integer", "Float":
				return true
			}
			return false
		}
		got, want = slices.DeleteFunc(got, dull), slices.DeleteFunc(want, dull)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got  %s\n want %s", sql, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

func reflectWalk(m protoreflect.Message, visit func(proto.Message)) {
	visit(m.Interface())
	if _, ok := m.Interface().(*pg.TypeName); ok {
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				reflectWalk(value.List().Get(i).Message(), visit)
			}
		default:
			reflectWalk(value.Message(), visit)
		}
		return true
	})
}

func TestKeywords(t *testing.T) {
	count := 0
	for _, token := range pg.Token_name {
		word := strings.ToLower(strings.TrimSuffix(token, "_P"))
		result, err := pg.Scan(word)
		if err != nil || len(result.Tokens) != 1 {
			continue
		}
		kind := result.Tokens[0].KeywordKind
		needs := kind != pg.KeywordKind_NO_KEYWORD && kind != pg.KeywordKind_UNRESERVED_KEYWORD
		if keywords[word] != needs {
			t.Errorf("%s: %v, the scanner says %v", word, keywords[word], kind)
		}
		if needs {
			count++
		}
	}
	if count != len(keywords) {
		t.Errorf("%d of %d keywords compared", count, len(keywords))
	}
}
