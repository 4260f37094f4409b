package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// section is what a group has to say.
type section struct {
	title string
	text  string // Markdown
	plots []plot
}

// document is the report: the machine, the wanted figures, and the sections.
func document(b *bench, sections []*section) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s, %s. %s. Interleaved rounds, %d at the settings of the wanted figures and %d at the others, of %s per contender; medians. The run took %s.\n",
		b.began.UTC().Format("2 January 2006"), machine(), versions(b), b.rounds, b.others, b.slice, time.Since(b.began).Round(time.Second))
	if b.noRedis != nil {
		fmt.Fprintf(&t, "\nLeft out: the contenders with Redis, because %s.\n", b.noRedis)
	}
	t.WriteString("\n### Wanted figures\n\n" + b.figureTable())
	for _, s := range sections {
		fmt.Fprintf(&t, "\n### %s\n\n%s", s.title, s.text)
		for _, p := range s.plots {
			fmt.Fprintf(&t, "\n![%s](performance/%s.svg)\n", p.title, p.file)
		}
	}
	return t.String()
}

// machine is what this runs on.
func machine() string {
	return fmt.Sprintf("%d cores (%s) and %s of memory, shared by clients and servers, Linux %s, load %s",
		runtime.NumCPU(), procLine("/proc/cpuinfo", "model name"), memory(), kernel(), procWord("/proc/loadavg"))
}

// kernel is the version, without the name of who built it.
func kernel() string {
	version, _, _ := strings.Cut(procWord("/proc/sys/kernel/osrelease"), "-")
	return version
}

func memory() string {
	var kilobytes int64
	if _, err := fmt.Sscanf(procLine("/proc/meminfo", "MemTotal"), "%d kB", &kilobytes); err != nil {
		return "?"
	}
	return fmt.Sprintf("%d GB", kilobytes>>20)
}

// procLine is what a file of /proc says behind a name, "?" where it does not.
func procLine(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "?"
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "?"
}

func procWord(file string) string {
	text, err := os.ReadFile(file)
	if words := strings.Fields(string(text)); err == nil && len(words) > 0 {
		return words[0]
	}
	return "?"
}

// versions are those of everything that takes part.
func versions(b *bench) string {
	all := []string{b.setting, runtime.Version()}
	if b.redis != nil {
		all = append(all, "Redis "+b.redis.version)
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return strings.Join(all, ", ")
	}
	for _, m := range []struct{ path, name string }{
		{"github.com/jackc/pgx/v5", "pgx"}, {"github.com/gofiber/fiber/v3", "Fiber"}, {"github.com/redis/go-redis/v9", "go-redis"},
		{"github.com/dbos-inc/dbos-transact-golang", "DBOS Transact"}, {"github.com/riverqueue/river", "River"},
	} {
		for _, dep := range build.Deps {
			if dep.Path == m.path {
				all = append(all, m.name+" "+dep.Version)
			}
		}
	}
	return strings.Join(all, ", ")
}

// The report of a page is between these lines.
const (
	reportBegins = "<!-- go run ./bench -report writes from here -->\n"
	reportEnds   = "<!-- to here -->\n"
)

// writeReport puts the report into a page, and its plots into the folder with the
// page's name.
func writeReport(page string, b *bench, sections []*section) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), reportBegins)
	_, after, ends := strings.Cut(rest, reportEnds)
	if !begins || !ends {
		return fmt.Errorf("%s has no lines %q and %q, between which the report goes", page, strings.TrimSpace(reportBegins), strings.TrimSpace(reportEnds))
	}
	folder := strings.TrimSuffix(page, filepath.Ext(page))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, s := range sections {
		for _, p := range s.plots {
			if err := os.WriteFile(filepath.Join(folder, p.file+".svg"), p.svg(), 0o644); err != nil {
				return err
			}
		}
	}
	whole := before + reportBegins + document(b, sections) + reportEnds + after
	return os.WriteFile(page, []byte(whole), 0o644)
}
