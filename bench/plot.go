package main

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// plot is a chart of horizontal bars.
type plot struct {
	file   string // its name, without .svg
	title  string
	format string // of the values
	bars   []bar
}

// bar is one contender's.
type bar struct {
	name  string
	value float64
}

// Sizes in pixels. The page is opaque, so that it can be read on any ground; the
// reader's own choice between light and dark decides which.
const (
	plotWidth  = 860
	labelWidth = 290
	valueWidth = 80
	barHeight  = 18
	barStep    = 26
	plotHead   = 50
	plotFoot   = 14
)

const plotStyle = `<style>
.page{fill:#fff;stroke:#d0d7de}text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}.title{font-weight:600;font-size:14px}
.own{fill:#1f6feb}.hand{fill:#848d97}.other{fill:#bf8700}
@media(prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.own{fill:#4493f8}.hand{fill:#848d97}.other{fill:#d29922}}
</style>
`

// svg draws the plot.
func (p plot) svg() []byte {
	var b bytes.Buffer
	height := plotHead + len(p.bars)*barStep + plotFoot
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		plotWidth, height, plotWidth, height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", html.EscapeString(p.title), plotStyle)
	fmt.Fprintf(&b, `<rect class="page" x=".5" y=".5" width="%d" height="%d" rx="6"/>`+"\n", plotWidth-1, height-1)
	fmt.Fprintf(&b, `<text class="title" x="16" y="28">%s</text>`+"\n", html.EscapeString(p.title))
	most := 0.0
	for _, one := range p.bars {
		most = max(most, one.value)
	}
	for i, one := range p.bars {
		y := plotHead + i*barStep
		width := 0.0
		if most > 0 {
			width = one.value / most * (plotWidth - labelWidth - valueWidth)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth-8, y+14, html.EscapeString(one.name))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`, kindOfBar(one.name), labelWidth, y, width, barHeight)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", labelWidth+width+6, y+14, fmt.Sprintf(p.format, one.value))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// kindOfBar colours idemgen, what is written by hand, and others.
func kindOfBar(name string) string {
	switch {
	case strings.HasPrefix(name, "idemgen"):
		return "own"
	case strings.HasPrefix(name, "Redis"), strings.HasPrefix(name, "Fiber"), strings.HasPrefix(name, "DBOS"):
		return "other"
	default:
		return "hand"
	}
}
