package review

import (
	"fmt"
	"testing"
)

// BenchmarkMarkdown: the time for ten times as many operations is about ten times
// as long.
func BenchmarkMarkdown(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc := many(b, n)
			for b.Loop() {
				_ = doc.Markdown()
			}
		})
	}
}
