// Package tools embeds the scripts of this folder that the tool itself runs, so
// that a released one can fetch what its labs need anywhere.
package tools

import "embed"

// Scripts are dotnet.sh, dotnet9.sh, jdk.sh, javac.sh, nginx.sh, php.sh, redis.sh, tomcat.sh and what they run. Each puts what
// it fetches into the folder .tools beside the folder dev that it lies in.
//
//go:embed debian.sh dotnet.sh dotnet9.sh javac.sh jdk.sh nginx.sh php.sh program.sh redis.sh tomcat.sh
var Scripts embed.FS
