package importrules

import "testing"

// An emitted client is imported by other modules: it brings them neither pgx nor
// a package of the service.
func TestEmittedClientsImportIdemClientAlone(t *testing.T) {
	const path = "example.com/payments/client"
	all := listIn(t, "../../example-service", path)
	p := all[path]
	if p == nil {
		t.Fatalf("there is no package %s", path)
	}
	for _, dep := range p.Deps {
		if q := all[dep]; q != nil && q.Standard || dep == module+"/idem/client" {
			continue
		}
		t.Errorf("%s depends on %s", path, dep)
	}
}
