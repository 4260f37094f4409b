package idemtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
	"github.com/idemgen/idemgen/schema"
)

// shared is the one server of this test process. A test process is where a
// variable of the package is the honest form of "one per process".
var shared server

// server is a PostgreSQL server and, on it, a template with the runtime's tables.
type server struct {
	mu      sync.Mutex
	opened  bool
	private *pgserver.Server
	base    string
	err     error
	copying string // how a database is made of the template: a clause of CREATE DATABASE
	made    atomic.Int64

	managed bool // Main ends it
	users   int  // tests that need it, where Main does not
}

// start starts the server at the first call and returns where it is.
func (s *server) start() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		s.opened, s.err = true, s.open()
	}
	return s.base, s.err
}

func (s *server) open() error {
	name := testURL
	if os.Getenv(name) == "" && s.users == 0 {
		name = "DATABASE_URL"
	}
	s.base = os.Getenv(name)
	if s.base != "" && !strings.Contains(s.base, "://") {
		return errors.New(name + " must be a URL: postgres://user@host/database")
	}
	if s.base == "" {
		private, err := pgserver.Start(context.Background(), "")
		if err != nil {
			return err
		}
		s.private, s.base = private, private.URL()
		if s.copying, err = copying(s.base); err != nil {
			return err
		}
	}
	if err := exec(s.base, "CREATE DATABASE "+s.template()); err != nil {
		return fmt.Errorf("template database: %w", err)
	}
	return exec(withDatabase(s.base, s.template()), schema.Up())
}

// copying is the clause that lets a private server copy the template's files, of
// which PostgreSQL 15 and newer would write every page to the WAL. That takes
// checkpoints, which cost nothing where nothing is synced to a disk.
func copying(base string) (clause string, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY file_copy' ELSE '' END").Scan(&clause)
	return clause, err
}

func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end()
}

func (s *server) end() error {
	switch {
	case s.base == "":
		return nil
	case s.private != nil:
		return s.private.Stop()
	}
	return exec(s.base, "DROP DATABASE IF EXISTS "+s.template())
}

// hold keeps the server for a test; the last one to release it ends it.
func (s *server) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

func (s *server) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.managed || s.users > 0 {
		return nil
	}
	err := s.end()
	s.opened, s.private, s.base, s.copying, s.err = false, nil, "", "", nil
	return err
}

// Several test processes may share the server of DATABASE_URL.
func (s *server) template() string { return fmt.Sprintf("idemtest_%d", os.Getpid()) }

func (s *server) nextName() string { return fmt.Sprintf("%s_%d", s.template(), s.made.Add(1)) }
