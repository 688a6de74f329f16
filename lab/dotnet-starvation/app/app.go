// Package app holds the sources of the .NET service that the lab and tests run: a
// C# project of its own, built with the SDK that is there.
package app

import "embed"

// Project is the file that is built.
const Project = "DiagnosticScenarios.csproj"

// Sources are the project.
//
//go:embed *.csproj *.cs
var Sources embed.FS
