package pgserver_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
	"github.com/jackc/pgx/v5"
)

func query(t *testing.T, url, sql string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var out string
	if err := conn.QueryRow(ctx, sql).Scan(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestATemporaryServerLeavesNothing(t *testing.T) {
	server, err := pgserver.Start(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(query(t, server.URL(), "SHOW data_directory"))
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestAKeptServerFindsItsData(t *testing.T) {
	dir, err := os.MkdirTemp("", "kept-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, sql := range []string{
		"CREATE TABLE kept AS SELECT 'yes' AS v",
		"SELECT v FROM kept",
	} {
		server, err := pgserver.Start(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, server.URL(), sql)
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Error(err)
	}
}
