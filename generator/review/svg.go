package review

import (
	"fmt"
	"html"
	"strings"
)

// The measures of a drawn diagram, in pixels.
const (
	columnGap  = 290
	margin     = 90
	headHeight = 34
	lineHeight = 16
	charWidth  = 6.6 // of the diagram's font, on average
	framePad   = 14
)

// svg draws a diagram, to stand inside an HTML page, whose style sheet gives it
// its colours. What it shows is also told in words, by [sentences].
func svg(title string, actors []actor, events []event) string {
	p := &picture{column: map[actor]int{}, y: headHeight + 2*framePad}
	for i, a := range actors {
		p.column[a] = margin + i*columnGap
	}
	p.width = 2*margin + (len(actors)-1)*columnGap
	for _, e := range events {
		p.event(e)
	}
	height := p.y + framePad
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="sequence" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		p.width, height, p.width, height, html.EscapeString(title))
	b.WriteString("\n")
	for _, a := range actors {
		x := p.column[a]
		fmt.Fprintf(&b, `<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", x, headHeight+6, x, height-6)
		fmt.Fprintf(&b, `<rect class="actor" x="%d" y="6" width="130" height="%d" rx="6"/>`+"\n", x-65, headHeight-6)
		fmt.Fprintf(&b, `<text class="name" x="%d" y="25">%s</text>`+"\n", x, html.EscapeString(actorNames[a]))
	}
	b.WriteString(p.body.String() + "</svg>")
	return b.String()
}

type picture struct {
	column map[actor]int
	width  int
	y      int // where the next event begins
	frame  int // where the open frame began
	body   strings.Builder
}

func (p *picture) event(e event) {
	switch e.kind {
	case send, reply:
		p.message(e)
	case note:
		p.note(e)
	case alt:
		p.frame = p.y
		p.label("alt", e.text)
	case orElse:
		p.draw(`<line class="divider" x1="10" y1="%d" x2="%d" y2="%d"/>`, p.y, p.width-10, p.y)
		p.label("else", e.text)
	case end:
		p.draw(`<rect class="frame" x="10" y="%d" width="%d" height="%d" rx="4"/>`, p.frame, p.width-20, p.y-p.frame)
		p.y += framePad
	}
}

func (p *picture) draw(format string, v ...any) {
	fmt.Fprintf(&p.body, format+"\n", v...)
}

// message is an arrow with its text above it.
func (p *picture) message(e event) {
	from, to := p.column[e.from], p.column[e.to]
	left, right := min(from, to), max(from, to)
	p.lines(e.text, (left+right)/2, right-left-20, "said")
	class, tip := "send", 6
	if e.kind == reply {
		class = "reply"
	}
	if to < from {
		tip = -6
	}
	p.y += 6
	p.draw(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, from, p.y, to, p.y)
	p.draw(`<path class="tip" d="M%d %d l%d -4 l0 8 z"/>`, to, p.y, -tip-tip/3)
	p.y += framePad + 4
}

func (p *picture) note(e event) {
	x := p.column[e.from]
	half := min(columnGap/2, p.width-x-16) // the last column has less room at its right
	width := 2 * half
	text := wrap(e.text, int(float64(width-16)/charWidth))
	height := len(text)*lineHeight + 8
	p.draw(`<rect class="note" x="%d" y="%d" width="%d" height="%d"/>`, x-half, p.y, width, height)
	p.y += 2
	p.lines(e.text, x, width-16, "said")
	p.y += framePad
}

func (p *picture) label(word, text string) {
	p.y += lineHeight + 2
	p.draw(`<text class="label" x="18" y="%d"><tspan class="word">%s</tspan> %s</text>`, p.y-2, word, html.EscapeString(text))
	p.y += 8
}

// lines writes a text, centred, on as many lines as it takes.
func (p *picture) lines(text string, x, width int, class string) {
	for _, line := range wrap(text, int(float64(width)/charWidth)) {
		p.y += lineHeight
		p.draw(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, p.y-2, html.EscapeString(line))
	}
}

// wrap breaks a text at spaces; a word that is too long stays whole.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			out = append(out, line)
			line = word
			continue
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(out, line)
}

// sentences tell a diagram in words, one per event.
func sentences(events []event) []string {
	var out []string
	for _, e := range events {
		switch e.kind {
		case send, reply:
			out = append(out, fmt.Sprintf("%s to %s: %s", actorNames[e.from], actorNames[e.to], e.text))
		case note:
			out = append(out, actorNames[e.from]+": "+e.text)
		case alt:
			out = append(out, "If "+e.text+":")
		case orElse:
			out = append(out, "Or if "+e.text+":")
		case end:
		}
	}
	return out
}
