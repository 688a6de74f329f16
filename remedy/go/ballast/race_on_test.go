//go:build race
// +build race

package ballast

const raceDetector = true
