package main

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that goose uses
	"github.com/pressly/goose/v3"

	"github.com/idemgen/idemgen/idem/idemtest/pgserver"
)

//go:embed db/migrations/*.sql
var migrations embed.FS

// bench is one run: its servers, and the figures so far.
type bench struct {
	extent
	began    time.Time
	setting  string // of the server, for the report
	server   *pgserver.Server
	dir      string
	redis    *redisServer
	noRedis  error // why there is none
	measured map[figure]measurement
}

// group is a part of a run that can be measured by itself.
type group struct {
	name   string
	wanted bool // it measures a wanted figure
	run    func(context.Context, *bench) (*section, error)
}

// groups are in the order of the report.
var groups = []group{
	{"load", true, loadGroup},
	{"cost", true, costGroup},
	{"bytes", true, bytesGroup},
	{"unprepared", true, unpreparedGroup},
	{"keys", true, keysGroup},
	{"sweep", true, sweepGroup},
	{"outbox", false, outboxGroup},
	{"generation", false, generationGroup},
}

func groupNames() (names []string) {
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

func groupNamed(name string) (group, bool) {
	for _, g := range groups {
		if g.name == name {
			return g, true
		}
	}
	return group{}, false
}

func wantedGroups() (wanted []group) {
	for _, g := range groups {
		if g.wanted {
			wanted = append(wanted, g)
		}
	}
	return wanted
}

// open starts the servers. A missing Redis is no error: who needs it is left out.
func open(ctx context.Context, e extent, durable bool) (_ *bench, err error) {
	b := &bench{extent: e, began: time.Now(), measured: map[figure]measurement{}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "idemgen-bench-"); err != nil {
		return nil, err
	}
	if err := b.startPostgreSQL(ctx, durable); err != nil {
		return nil, err
	}
	if b.setting, err = settings(ctx, b.server.URL()); err != nil {
		return nil, err
	}
	b.redis, err = startRedis(ctx)
	if errors.Is(err, errNoRedis) {
		b.noRedis = err
		fmt.Fprintln(os.Stderr, "bench: left out:", err)
		return b, nil
	}
	return b, err
}

// tuning is what one sets on a server of this size; the rest is PostgreSQL's default.
var tuning = []string{"shared_buffers = '1GB'", "max_wal_size = '8GB'", "maintenance_work_mem = '1GB'"}

// startPostgreSQL starts the server twice: memory is set aside at the start.
func (b *bench) startPostgreSQL(ctx context.Context, durable bool) (err error) {
	if b.server, err = pgserver.Start(ctx, b.dir); err != nil {
		return err
	}
	set := tuning
	if !durable {
		set = append(set[:len(set):len(set)], "fsync = off")
	}
	for _, one := range set {
		if err := b.exec(ctx, b.server.URL(), "ALTER SYSTEM SET "+one); err != nil {
			return err
		}
	}
	if err := b.server.Stop(); err != nil {
		return err
	}
	b.server, err = pgserver.Start(ctx, b.dir)
	return err
}

func (b *bench) close() {
	if b.redis != nil {
		_ = b.redis.stop() // what was measured is not worse for it
	}
	if b.server != nil {
		b.server.Stop()
	}
	os.RemoveAll(b.dir)
}

// measureAll measures groups, each over a database of its own.
func (b *bench) measureAll(ctx context.Context, chosen []group) ([]*section, error) {
	var sections []*section
	for _, g := range chosen {
		began := time.Now()
		s, err := g.run(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.name, err)
		}
		sections = append(sections, s)
		fmt.Fprintf(os.Stderr, "bench: %s measured in %s\n", g.name, time.Since(began).Round(time.Second))
	}
	return sections, nil
}

// seeds are payments for those who only read.
const seeds = "INSERT INTO payments (tenant_id, order_id, amount) SELECT 'bench', 'seed-' || i, 100 FROM generate_series(1, 16) i"

// database makes one with the tables of all contenders.
func (b *bench) database(ctx context.Context, name string) (string, error) {
	if err := b.exec(ctx, b.server.URL(), "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	at, err := url.Parse(b.server.URL())
	if err != nil {
		return "", err
	}
	at.Path = path.Join("/", name)
	if err := migrate(ctx, at.String()); err != nil {
		return "", err
	}
	return at.String(), b.exec(ctx, at.String(), seeds)
}

// place is where the contenders of a group meet.
func (b *bench) place(url string, s setting) place {
	p := place{url: url, clients: s.clients, wire: &wire{roundTrip: s.roundTrip}, dbos: true}
	if b.redis != nil {
		p.redis = b.redis.address
	}
	return p
}

func (b *bench) exec(ctx context.Context, url string, sql ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, one := range sql {
		if _, err := conn.Exec(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", strings.SplitN(one, "\n", 2)[0], err)
		}
	}
	return nil
}

// settings is what decides the price of a commit.
func settings(ctx context.Context, url string) (text string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)"+
		" || ', fsync ' || current_setting('fsync')"+
		" || ', synchronous_commit ' || current_setting('synchronous_commit')"+
		" || ', shared_buffers ' || current_setting('shared_buffers')").Scan(&text)
	return text, err
}

func migrate(ctx context.Context, url string) error {
	conn, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer conn.Close()
	folder, err := fs.Sub(migrations, "db/migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, folder)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
