// Package app holds the sources of the service of the lab jvm-parnew.
package app

import "embed"

// Sources are its files.
//
//go:embed operations/*.java
var Sources embed.FS

// Main is its main class.
const Main = "operations.Service"
