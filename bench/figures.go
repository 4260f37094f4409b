package main

import (
	"fmt"
	"math"
	"strings"
)

// figure is one that the project wants to reach.
type figure int

// The wanted figures, in the order of their table.
const (
	figureBareFar figure = iota
	figureBareNear
	figureTextbook
	figureReplay
	figureHandlerTime
	figureHandlerAllocations
	figureStepped
	figureGo
	figureRedisNew
	figureRedisReplay
	figureFiberNew
	figureFiberReplay
	figureDBOSNew
	figureDBOSReplay
	figureManyKeys
	figureSweep
	figureWAL
	figureUnprepared
	figureCount
)

// wish is what is wanted of a figure: at least a value, or at most.
type wish struct {
	what   string
	atMost bool
	value  float64
	format string
}

var wishes = [figureCount]wish{
	figureBareFar:            {"fused against bare INSERT, throughput, 1 ms, 16 clients", false, 0.90, "%.2f"},
	figureBareNear:           {"fused against bare INSERT, throughput, local, 8 clients", false, 0.75, "%.2f"},
	figureTextbook:           {"fused against the textbook transaction, 1 ms, 16 clients", false, 3.5, "%.2f"},
	figureReplay:             {"replay against a SELECT by primary key through the same stack, 1 ms, 16 clients", false, 0.95, "%.2f"},
	figureHandlerTime:        {"emitted handler beyond the same one by hand, CPU of the process", true, 15, "%.1f µs"},
	figureHandlerAllocations: {"emitted handler beyond the same one by hand, allocations", true, 25, "%.0f"},
	figureStepped:            {"stepped against the same transaction by hand, 1 ms, 16 clients", false, 1, "%.2f"},
	figureGo:                 {"Go handler against the same transaction by hand, 1 ms, 16 clients", false, 1, "%.2f"},
	figureRedisNew:           {"fused against the Redis middleware, new keys, 1 ms, 16 clients", false, 1, "%.2f"},
	figureRedisReplay:        {"fused against the Redis middleware, replays, 1 ms, 16 clients", false, 1, "%.2f"},
	figureFiberNew:           {"fused against Fiber's middleware in memory, new keys, 1 ms, 16 clients", false, 1, "%.2f"},
	figureFiberReplay:        {"fused against Fiber's middleware in memory, replays, 1 ms, 16 clients", false, 1, "%.2f"},
	figureDBOSNew:            {"fused against DBOS, new keys, 1 ms, 16 clients", false, 1, "%.2f"},
	figureDBOSReplay:         {"fused against DBOS, replays, 1 ms, 16 clients", false, 1, "%.2f"},
	figureManyKeys:           {"new keys with many keys in the table against ten thousand, local, 8 clients", false, 0.85, "%.2f"},
	figureSweep:              {"p99 with the sweeper running against without", true, 1.25, "%.2f"},
	figureWAL:                {"WAL of a new key beyond the bare INSERT, response of 200 bytes", true, 480, "%.0f bytes"},
	figureUnprepared:         {"fused against bare INSERT, both without prepared statements, local, 8 clients", false, 0.6, "%.2f"},
}

// measurement is what came out, and what there is to say about it.
type measurement struct {
	value float64
	note  string
}

// found notes a figure. NaN was not measured.
func (b *bench) found(f figure, value float64, note string) {
	if !math.IsNaN(value) {
		b.measured[f] = measurement{value, note}
	}
}

func (w wish) holds(value float64) bool {
	if w.atMost {
		return value <= w.value
	}
	return value >= w.value
}

func (w wish) wanted() string {
	if w.atMost {
		return "at most " + fmt.Sprintf(w.format, w.value)
	}
	return "at least " + fmt.Sprintf(w.format, w.value)
}

// figureTable is every figure that was measured, and whether it holds.
func (b *bench) figureTable() string {
	var t strings.Builder
	t.WriteString("| what | wanted | measured | |\n|---|---:|---:|---|\n")
	for f, w := range wishes {
		m, ok := b.measured[figure(f)]
		if !ok {
			continue
		}
		verdict := "ok"
		if !w.holds(m.value) {
			verdict = "**MISSED**"
		}
		if m.note != "" {
			verdict += " (" + m.note + ")"
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s |\n", w.what, w.wanted(), fmt.Sprintf(w.format, m.value), verdict)
	}
	return t.String()
}
