package idem

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

const microsPerHour = 3600 * 1_000_000

// span is an interval as PostgreSQL keeps it; its three parts are independent.
type span struct {
	months, days int64
	micros       int64
}

// parseSpan reads an ISO 8601 duration. Each part may have a sign, as
// PostgreSQL writes it, and the whole may have one, as JavaScript does. Only
// parts of the time may have a fraction: half a month has no length.
func parseSpan(s string) (span, *valueFault) {
	p := &spanReader{text: s, whole: 1}
	if rest, ok := strings.CutPrefix(p.text, "-"); ok {
		p.text, p.whole = rest, -1
	}
	rest, ok := strings.CutPrefix(p.text, "P")
	if !ok || rest == "" {
		return span{}, wantKind(KindInterval)
	}
	date, clock, hasTime := strings.Cut(rest, "T")
	if hasTime && clock == "" {
		return span{}, wantKind(KindInterval)
	}
	p.parts(date, "YMWD", p.datePart)
	p.parts(clock, "HMS", p.timePart)
	switch {
	case p.malformed:
		return span{}, wantKind(KindInterval)
	case p.fault != nil:
		return span{}, p.fault
	case !p.inRange():
		return span{}, outOfRange(KindInterval)
	}
	return span{p.months, p.days, p.micros.Int64()}, nil
}

type spanReader struct {
	text         string
	whole        int64 // the sign of all
	months, days int64
	micros       big.Int
	malformed    bool
	fault        *valueFault
}

func (p *spanReader) inRange() bool {
	const limit = math.MaxInt32
	hours := new(big.Int).Quo(&p.micros, big.NewInt(microsPerHour))
	return p.fault == nil && abs(p.months) <= limit && abs(p.days) <= limit &&
		hours.IsInt64() && abs(hours.Int64()) <= limit
}

// parts reads numbers, each followed by a designator of the list, in its order.
func (p *spanReader) parts(s, designators string, take func(designator byte, n string)) {
	for s != "" && !p.malformed {
		i := strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
		if i <= 0 {
			p.malformed = true
			return
		}
		at := strings.IndexByte(designators, s[i])
		if at < 0 {
			p.malformed = true
			return
		}
		designators = designators[at+1:]
		take(s[i], strings.Replace(s[:i], ",", ".", 1))
		s = s[i+1:]
	}
}

var monthsOrDays = map[byte]int64{'Y': 12, 'M': 1, 'W': 7, 'D': 1}

func (p *spanReader) datePart(designator byte, n string) {
	if !digitsWithSign(n) {
		p.malformed = true
		return
	}
	v, err := strconv.ParseInt(n, 10, 32)
	if err != nil {
		p.fault = outOfRange(KindInterval)
		return
	}
	v *= monthsOrDays[designator] * p.whole
	if designator == 'Y' || designator == 'M' {
		p.months += v
	} else {
		p.days += v
	}
}

var microsPer = map[byte]int64{'H': microsPerHour, 'M': 60_000_000, 'S': 1_000_000}

func (p *spanReader) timePart(designator byte, n string) {
	d, ok, fits := parseDecimal(n)
	if _, _, hasExp := cutExponent(n); !ok || hasExp {
		p.malformed = true
		return
	}
	if !fits || len(d.digits)+d.exp > 18 {
		p.fault = outOfRange(KindInterval)
		return
	}
	r, _ := new(big.Rat).SetString(d.text())
	r.Mul(r, big.NewRat(microsPer[designator]*p.whole, 1))
	if !r.IsInt() {
		p.fault = &valueFault{"precision", "must not be finer than microseconds"}
		return
	}
	p.micros.Add(&p.micros, r.Num())
}

// text is the canonical duration: months, days, and the time in hours,
// minutes and seconds of one sign. PostgreSQL reads it back exactly, whatever
// IntervalStyle says.
func (s span) text() string {
	var b strings.Builder
	b.WriteByte('P')
	writeAmount(&b, s.months, 'M')
	writeAmount(&b, s.days, 'D')
	if s.micros != 0 {
		b.WriteByte('T')
		writeAmount(&b, s.micros/microsPerHour, 'H')
		writeAmount(&b, s.micros%microsPerHour/60_000_000, 'M')
		writeSeconds(&b, s.micros%60_000_000)
	}
	if b.Len() == 1 {
		return "PT0S"
	}
	return b.String()
}

func writeAmount(b *strings.Builder, n int64, designator byte) {
	if n != 0 {
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte(designator)
	}
}

func writeSeconds(b *strings.Builder, micros int64) {
	if micros == 0 {
		return
	}
	d, _, _ := parseDecimal(strconv.FormatInt(micros, 10) + "e-6")
	b.WriteString(d.text())
	b.WriteByte('S')
}

// compare is PostgreSQL's: a month has 30 days, a day 24 hours.
func (s span) compare(o span) int { return s.length().Cmp(o.length()) }

func (s span) length() *big.Int {
	days := big.NewInt(s.months*30 + s.days)
	return days.Mul(days, big.NewInt(24*microsPerHour)).Add(days, big.NewInt(s.micros))
}

// compareSpans compares canonical durations.
func compareSpans(a, b string) int {
	sa, _ := parseSpan(a)
	sb, _ := parseSpan(b)
	return sa.compare(sb)
}

// postgresText is the form that pgx reads.
func (s span) postgresText() string {
	sign, micros := "", s.micros
	if micros < 0 {
		sign, micros = "-", -micros
	}
	var b strings.Builder
	b.WriteString(strconv.FormatInt(s.months, 10) + " mons ")
	b.WriteString(strconv.FormatInt(s.days, 10) + " days ")
	b.WriteString(sign + strconv.FormatInt(micros/microsPerHour, 10) + ":")
	b.WriteString(strconv.FormatInt(micros%microsPerHour/60_000_000, 10) + ":")
	b.WriteString(strconv.FormatInt(micros%60_000_000/1_000_000, 10) + ".")
	fraction := strconv.FormatInt(1_000_000+micros%1_000_000, 10)
	b.WriteString(fraction[1:])
	return b.String()
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
