// Package suggest finds what somebody meant who mistyped a name.
package suggest

import (
	"strings"

	"github.com/hbollon/go-edlib"
)

// longest is how many bytes a word may have for which a name is looked up: the distance takes memory by its length.
const longest = 128

// Nearest is the name that is fewest typing errors away, "" if none is near: half of the word's letters, and two of a
// short one, may be wrong. A letter put in, taken out, changed, or swapped with its neighbour is an error; case does not
// matter.
func Nearest(word string, names []string) string {
	if len(word) > longest {
		return ""
	}
	best, least := "", max(len(word)/2, 2)+1
	for _, name := range names {
		if d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}
