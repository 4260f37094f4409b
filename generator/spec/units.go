package spec

import (
	"math"
	"strconv"
	"strings"
	"time"
)

var durationUnits = []struct {
	name string
	unit time.Duration
}{{"ms", time.Millisecond}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// parseDuration reads whole numbers with units, as in 24h, 500ms, 30d, 1h30m.
func parseDuration(s string) (time.Duration, bool) {
	var total time.Duration
	if s == "" {
		return 0, false
	}
	for s != "" {
		n, rest, ok := leadingNumber(s)
		if !ok {
			return 0, false
		}
		unit := time.Duration(0)
		for _, u := range durationUnits {
			if tail, found := strings.CutPrefix(rest, u.name); found {
				unit, s = u.unit, tail
				break
			}
		}
		if unit == 0 || n > int64((math.MaxInt64-total)/unit) {
			return 0, false
		}
		total += time.Duration(n) * unit
	}
	return total, true
}

var sizeUnits = map[string]int64{"": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// parseSize reads a whole number of bytes with a unit, as in 1MiB.
func parseSize(s string) (int64, bool) {
	n, rest, ok := leadingNumber(s)
	unit, known := sizeUnits[rest]
	if !ok || !known || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}

func leadingNumber(s string) (n int64, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	return n, s[end:], err == nil
}
