// Package app holds the sources of this lab's .NET service: an API whose large temporary
// objects cause full collections, and the library that watches its memory.
package app

import "embed"

// Project is the file that is built.
const Project = "Tracker.csproj"

// Sources are the project and the library it refers to.
//
//go:embed *.csproj *.cs guard
var Sources embed.FS
