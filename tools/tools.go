// Package tools carries the scripts of this folder that the tool itself runs, so
// that a released one can fetch what its labs need anywhere.
package tools

import _ "embed"

// Dotnet is dotnet.sh. It puts what it fetches into the folder .tools beside the
// folder it lies in.
//
//go:embed dotnet.sh
var Dotnet []byte
