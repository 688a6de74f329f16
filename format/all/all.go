// Package all lists the formats unstall reads. One more format is a package
// beside this one and a line here.
package all

import "github.com/unstall/unstall/format"

// Formats in the order they are asked; order matters only among those that
// answer Maybe.
var Formats = []format.Format{}
