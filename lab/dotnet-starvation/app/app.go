// Package app holds the sources of the .NET service that the lab and tests run: a
// C# project of its own, built with whatever SDK there is.
package app

import "embed"

// Project is the file that is built.
const Project = "DiagnosticScenarios.csproj"

// Sources are the project.
//
//go:embed *.csproj *.cs
var Sources embed.FS
