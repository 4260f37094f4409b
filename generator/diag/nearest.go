package diag

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that word was probably meant to be: the one
// with the smallest edit distance, letter case apart, if that is small against
// the word's length; else "". A word that is a candidate itself is no misspelt
// one.
func Nearest(word string, candidates []string) string {
	if slices.Contains(candidates, word) {
		return ""
	}
	best, bestDistance := "", 1+max(1, min(len(word), 12)/3)
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if d := distance(lower, strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance in bytes: insertions,
// deletions, replacements and swaps of neighbours cost one each.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b)) // no word of ours is that long
	}
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
