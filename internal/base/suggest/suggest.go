// Package suggest finds the name that a mistyped word was meant to be.
package suggest

import (
	"strings"

	"github.com/hbollon/go-edlib"
)

// longest is the largest word in bytes that is looked up: the distance takes memory by its length.
const longest = 128

// Nearest returns the name with the fewest typing errors, "" if none is near: at most a third of the word's letters, or one of a short word,
// may be wrong. An error is a letter that was inserted, removed, changed, or swapped with its neighbour; case does not matter.
func Nearest(word string, names []string) string {
	if len(word) > longest {
		return ""
	}
	best, least := "", max(len(word)/3, 1)+1
	for _, name := range names {
		if d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}
