package openapi

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
)

// names are the schemas of the components: what operations take and give.
type names struct {
	taken   map[string]bool
	entries []entry
}

func newNames() *names {
	return &names{taken: map[string]bool{schemaProblem: true, schemaField: true, schemaGateway: true}}
}

// add keeps a schema under a name of its own, and refers to it.
func (n *names) add(name string, schema *yaml.Node) *yaml.Node {
	name = componentName(name)
	free := name
	for i := 2; n.taken[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	n.taken[free] = true
	n.entries = append(n.entries, entry{free, schema})
	return ref("schemas", free)
}

// componentName keeps the characters that a component's name may have.
func componentName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			b.WriteByte(c)
			continue
		}
		b.WriteString("x" + strconv.FormatInt(int64(c), 16))
	}
	return b.String()
}

func sortedTags(ops []*contract.Operation) []string {
	var all []string
	for _, op := range ops {
		all = append(all, op.Model.Tags...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
