package timeline

import "github.com/unstall/unstall/internal/base/evidence"

// DropEntrances is for tests outside the package.
func DropEntrances(l *Life, b *evidence.Bundle) { l.dropEntrances(b.Names) }
