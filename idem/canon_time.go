package idem

import (
	"fmt"
	"strings"
	"time"
)

// clock is a date and a time of day as they were written. Fields that a form
// does not have are zero.
type clock struct {
	year, month, day     int
	hour, minute, second int
	micros               int
	offset               int // seconds east of UTC
}

// timeReader reads the fixed-width parts of ISO 8601 from the front of text.
type timeReader struct {
	text   string
	failed bool
	fault  *valueFault
}

func (r *timeReader) number(width int) int {
	if len(r.text) < width || !allDigits(r.text[:width]) {
		r.failed = true
		return 0
	}
	n := 0
	for i := range width {
		n = n*10 + int(r.text[i]-'0')
	}
	r.text = r.text[width:]
	return n
}

// accept takes the next byte if it is one of set, and gives it.
func (r *timeReader) accept(set string) byte {
	if r.text == "" || strings.IndexByte(set, r.text[0]) < 0 {
		return 0
	}
	b := r.text[0]
	r.text = r.text[1:]
	return b
}

func (r *timeReader) expect(set string) {
	if r.accept(set) == 0 {
		r.failed = true
	}
}

func (r *timeReader) date(c *clock) {
	c.year = r.number(4)
	r.expect("-")
	c.month = r.number(2)
	r.expect("-")
	c.day = r.number(2)
}

// timeOfDay reads hh:mm, hh:mm:ss or hh:mm:ss.ffffff.
func (r *timeReader) timeOfDay(c *clock) {
	c.hour = r.number(2)
	r.expect(":")
	c.minute = r.number(2)
	if r.accept(":") == 0 {
		return
	}
	c.second = r.number(2)
	if r.accept(".") != 0 {
		c.micros = r.fraction()
	}
}

// fraction reads digits as microseconds. PostgreSQL would round what is finer,
// so only zeros may follow the sixth digit.
func (r *timeReader) fraction() int {
	n := 0
	for n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		n++
	}
	digits := r.text[:n]
	r.text = r.text[n:]
	if digits == "" {
		r.failed = true
		return 0
	}
	micros, ok := fractionMicros(digits)
	if !ok {
		r.fault = &valueFault{"precision", "must not be finer than microseconds"}
	}
	return micros
}

func fractionMicros(digits string) (int, bool) {
	if len(digits) > 6 {
		if strings.Trim(digits[6:], "0") != "" {
			return 0, false
		}
		digits = digits[:6]
	}
	n := 0
	for i := range 6 {
		n *= 10
		if i < len(digits) {
			n += int(digits[i] - '0')
		}
	}
	return n, true
}

// zone reads Z or an offset ±hh:mm; RFC 3339 section 5.6. The lenient form
// has PostgreSQL's ±hh as well.
func (r *timeReader) zone(c *clock, lenient bool) {
	if r.accept("Zz") != 0 {
		return
	}
	sign := r.accept("+-")
	if sign == 0 {
		r.failed = true
		return
	}
	hours, minutes := r.number(2), 0
	if !lenient || r.text != "" {
		r.expect(":")
		minutes = r.number(2)
	}
	if hours > 23 || minutes > 59 {
		r.failed = true
	}
	c.offset = hours*3600 + minutes*60
	if sign == '-' {
		c.offset = -c.offset
	}
}

// canonTime gives the canonical text of the date and time kinds. The lenient
// form also takes what PostgreSQL and pgx write: a space for the T, infinity.
func canonTime(k Kind, s string, lenient bool) (string, *valueFault) {
	if lenient && k != KindTime && (s == "infinity" || s == "-infinity") {
		return s, nil
	}
	r, c := &timeReader{text: s}, clock{month: 1, day: 1, year: 2000}
	separator := "Tt"
	if lenient {
		separator = "Tt "
	}
	if k != KindTime {
		r.date(&c)
	}
	if k == KindTimestamp || k == KindTimestamptz {
		r.expect(separator)
	}
	if k != KindDate {
		r.timeOfDay(&c)
	}
	if k == KindTimestamptz {
		r.zone(&c, lenient)
	}
	if r.failed || r.text != "" {
		return "", wantKind(k)
	}
	if r.fault != nil {
		return "", r.fault
	}
	return c.text(k)
}

// text checks the ranges and writes the canonical form.
func (c clock) text(k Kind) (string, *valueFault) {
	if c.year < 1 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > daysIn(c.year, c.month) || !c.validTime(k) {
		return "", outOfRange(k)
	}
	switch k {
	case KindDate:
		return fmt.Sprintf("%04d-%02d-%02d", c.year, c.month, c.day), nil
	case KindTime:
		if c.hour == 24 {
			return "24:00:00.000000", nil
		}
	}
	// A leap second is the first of the next minute, as PostgreSQL has it.
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.micros*1000, time.UTC)
	t = t.Add(-time.Duration(c.offset) * time.Second)
	if t.Year() < 1 || t.Year() > 9999 {
		return "", outOfRange(k)
	}
	return formatTime(k, t), nil
}

// validTime allows second 60 without a fraction, and 24:00 for the kinds that
// PostgreSQL allows it for.
func (c clock) validTime(k Kind) bool {
	if c.hour == 24 {
		return k != KindTimestamptz && c.minute == 0 && c.second == 0 && c.micros == 0
	}
	return c.hour < 24 && c.minute < 60 && (c.second < 60 || c.second == 60 && c.micros == 0 && k != KindTime)
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func formatTime(k Kind, t time.Time) string {
	switch k {
	case KindTimestamptz:
		return t.Format("2006-01-02T15:04:05.000000Z")
	case KindTimestamp:
		return t.Format("2006-01-02T15:04:05.000000")
	default:
		return t.Format("15:04:05.000000")
	}
}
