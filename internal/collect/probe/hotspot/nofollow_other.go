//go:build !unix

package hotspot

// noFollow has no effect, because no JVM can be recorded here.
const noFollow = 0
