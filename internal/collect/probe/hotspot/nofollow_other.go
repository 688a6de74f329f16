//go:build !unix

package hotspot

// noFollow is nothing where no JVM can be recorded.
const noFollow = 0
