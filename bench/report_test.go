package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tiny runs everything and says nothing about speed.
var tiny = extent{
	settings: []setting{{0, 2}, {time.Millisecond, 2}},
	rounds:   1, others: 1, slice: time.Millisecond,
	costRounds: 1, costRequests: 2, bytesRequests: 20,
	fewKeys: 100, manyKeys: 1000,
	sweep: 2000, sweepClients: 2, sweepSlice: 5 * time.Millisecond,
	outbox: 50, operations: []int{2},
}

// The whole report, in short: every wanted figure is measured, every section has
// its text, and the page gets report and plots between its markers and nowhere else.
// How fast anything is, no test says.
func TestTheReportIsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers of its own and runs sqlc")
	}
	b, err := open(t.Context(), tiny, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	sections, err := b.measureAll(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	for f, w := range wishes {
		_, ok := b.measured[figure(f)]
		needsRedis := f == int(figureRedisNew) || f == int(figureRedisReplay)
		if !ok && (!needsRedis || b.noRedis == nil) {
			t.Errorf("not measured: %s", w.what)
		}
	}
	page := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(page, []byte("before\n"+reportBegins+"old\n"+reportEnds+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeReport(page, b, sections); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	report := string(text)
	if !strings.HasPrefix(report, "before\n"+reportBegins) || !strings.HasSuffix(report, reportEnds+"after\n") || strings.Contains(report, "old\n") {
		t.Errorf("the page around the report:\n%.200s", report)
	}
	if strings.Contains(report, "NaN") {
		t.Error("NaN is in the report")
	}
	for _, s := range sections {
		if !strings.Contains(report, "\n### "+s.title+"\n\n"+s.text) {
			t.Errorf("section %s is missing", s.title)
		}
		for _, p := range s.plots {
			svg, err := os.ReadFile(filepath.Join(strings.TrimSuffix(page, ".md"), p.file+".svg"))
			if err != nil {
				t.Error(err)
			}
			wellFormed(t, svg)
		}
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}

// A page without the markers is left as it is.
func TestTheReportNeedsItsMarkers(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeReport(page, &bench{}, nil)
	if err == nil || !strings.Contains(err.Error(), "between which the report goes") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "text\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// A figure that does not hold is shown as missed; what was not measured is not shown.
func TestMissedFiguresAreShown(t *testing.T) {
	b := &bench{measured: map[figure]measurement{}}
	b.found(figureBareFar, 0.89, "")
	b.found(figureWAL, 479, "")
	b.found(figureSweep, 1.26, "")
	got := b.figureTable()
	for _, want := range []string{"| at least 0.90 | 0.89 | **MISSED** |", "| at most 480 bytes | 479 bytes | ok |", "| at most 1.25 | 1.26 | **MISSED** |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if lines := strings.Count(got, "\n"); lines != 5 {
		t.Errorf("%d lines:\n%s", lines, got)
	}
}

// Groups are chosen by name, and a report is never written of some of them.
func TestChooseGroups(t *testing.T) {
	chosen, err := chooseGroups(options{groups: "keys, load"})
	if err != nil || len(chosen) != 2 || chosen[0].name != "keys" || chosen[1].name != "load" {
		t.Errorf("%v, %v", chosen, err)
	}
	if _, err := chooseGroups(options{groups: "keys,none"}); err == nil || !strings.Contains(err.Error(), `no group "none"; there are load, `) {
		t.Errorf("%v", err)
	}
	if _, err := chooseGroups(options{groups: "keys", report: "page.md"}); err == nil {
		t.Error("a report of one group")
	}
	if all, err := chooseGroups(options{}); err != nil || len(all) != len(groups) {
		t.Errorf("%v, %v", all, err)
	}
}
