package idem

import (
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// Pitfall 3: a deferred constraint fails behind the statement's own end. Whether
// it is sent alone or with others, prepared or not, send must tell.
func TestPitfall_3_AnErrorBehindTheEndOfTheStatement(t *testing.T) {
	t.Parallel()
	pool := idemtest.Pool(t, "CREATE TABLE parts (id int PRIMARY KEY, whole int REFERENCES parts DEFERRABLE INITIALLY DEFERRED)")
	s, err := newService(pool, Config{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	insert := newQuery("INSERT INTO parts VALUES ($1, $2)")
	for _, named := range []bool{true, false} {
		for _, script := range [][]statement{
			{insert.with([]byte("1"), []byte("2"))},
			{insert.with([]byte("1"), nil), insert.with([]byte("2"), []byte("3"))},
		} {
			c, err := s.pools.all[0].acquire(t.Context(), named)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.send(t.Context(), script...)
			c.release()
			if sqlState(err) != "23503" {
				t.Errorf("named %v, %d statements: %v", named, len(script), err)
			}
		}
	}
}
