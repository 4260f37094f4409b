package config

import (
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/generator/yamltree"
)

// Sweep is the `sweep:` section.
type Sweep struct {
	Cron string // when pg_cron sweeps, one space between fields; "": not at all
}

func sweepKeys() []string { return []string{"pg_cron"} }

// sweep reads who sweeps beside the service.
func (r *reader) sweep(e yamltree.Entry) {
	entries, ok := r.mapping(e, `sweep: {pg_cron: "*/5 * * * *"}`)
	if !ok {
		return
	}
	for _, k := range yamltree.Unknown(entries, sweepKeys(), "`sweep:`", r.diags) {
		r.cron(k)
	}
}

// cronSchedule are the schedules of pg_cron: those of cron, and, since its
// version 1.5, some seconds.
var cronSchedule = regexp.MustCompile(`^([0-9A-Za-z*/,$-]+( [0-9A-Za-z*/,$-]+){4}|([1-9]|[1-5][0-9]) seconds)$`)

func (r *reader) cron(e yamltree.Entry) {
	s, ok := e.Value.Text()
	schedule := strings.Join(strings.Fields(s.Value), " ")
	if !ok || !cronSchedule.MatchString(schedule) || strings.ContainsAny(s.Value, "\r\n") {
		r.bad(e.Value.Pos(), `write pg_cron: "*/5 * * * *" for every five minutes: minute, hour, day, month, weekday`, "this is no schedule of pg_cron")
		return
	}
	r.cfg.Sweep.Cron = schedule
}
