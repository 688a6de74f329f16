package discover

import (
	"strings"
	"testing"
)

func TestLaunchedByDotnet(t *testing.T) {
	for line, want := range map[string]string{
		"dotnet":          "",
		"dotnet Shop.dll": "Shop",
		"/usr/bin/dotnet /srv/Shop.Api.dll --password=x":                            "Shop.Api",
		"dotnet exec --depsfile /srv/x.json --runtimeconfig /srv/y.json ./Shop.dll": "Shop",
		"dotnet -d --roll-forward Major Tool.exe":                                   "Tool",
		"dotnet run --project Shop.dll":                                             "",
		"dotnet build Shop.csproj":                                                  "",
		"dotnet --info":                                                             "",
	} {
		if got := launchedByDotnet(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
