package idemtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
	"github.com/idemgen/idemgen/schema"
)

// shared is the one server of this test process. A test process is where a
// variable of the package is the honest form of "one per process".
var shared server

// server is a PostgreSQL server and, on it, a template with the runtime's tables.
type server struct {
	once    sync.Once
	private *pgserver.Server
	base    string
	err     error
	made    atomic.Int64
}

// start starts the server at the first call and returns where it is.
func (s *server) start() (string, error) {
	s.once.Do(func() { s.err = s.open() })
	return s.base, s.err
}

func (s *server) open() error {
	s.base = os.Getenv("DATABASE_URL")
	if s.base != "" && !strings.Contains(s.base, "://") {
		return errors.New("DATABASE_URL must be a URL: postgres://user@host/database")
	}
	if s.base == "" {
		private, err := pgserver.Start(context.Background(), "")
		if err != nil {
			return err
		}
		s.private, s.base = private, private.URL()
	}
	if err := exec(s.base, "CREATE DATABASE "+s.template()); err != nil {
		return fmt.Errorf("template database: %w", err)
	}
	return exec(withDatabase(s.base, s.template()), schema.Up())
}

func (s *server) stop() error {
	switch {
	case s.base == "":
		return nil
	case s.private != nil:
		return s.private.Stop()
	}
	return exec(s.base, "DROP DATABASE IF EXISTS "+s.template())
}

// Several test processes may share the server of DATABASE_URL.
func (s *server) template() string { return fmt.Sprintf("idemtest_%d", os.Getpid()) }

func (s *server) nextName() string { return fmt.Sprintf("%s_%d", s.template(), s.made.Add(1)) }
