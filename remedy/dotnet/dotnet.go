// Package dotnet carries the library Unstall.Collections for .NET, its tests and its
// benchmarks, as C# projects that the .NET SDK builds without a package source.
// README.md says what it is for.
package dotnet

import (
	"embed"
	"io/fs"
)

// Sources are the library, its tests, its benchmarks and the sample.
//
//go:embed src bench tests sample
var Sources embed.FS

// The projects of [Sources] that can be run. Each compiles the library's files itself.
const (
	Tests      = "tests/Tests.csproj"
	Benchmarks = "bench/Benchmarks.csproj"
	Sample     = "sample/Sample.csproj"
)

// Collections are the library's own files.
func Collections() fs.FS {
	src, err := fs.Sub(Sources, "src")
	if err != nil {
		panic(err) // it is embedded
	}
	return src
}
