package platform

import (
	"strings"
	"testing"
)

func TestLaunchedByJava(t *testing.T) {
	for line, want := range map[string]string{
		"java": "",
		"java -Xmx256m -cp lib/a.jar:lib/b.jar -Dpassword=x org.apache.catalina.startup.Bootstrap start": "Bootstrap",
		"/usr/bin/java -jar /srv/jetty/start.jar --module=http":                                          "start.jar",
		"java -Xmx1g -jar shop-1.2.jar":                                                                  "shop-1.2.jar",
		"java --add-opens java.base/java.nio=ALL-UNNAMED --class-path x Main":                            "Main",
		"java --add-opens=java.base/java.nio=ALL-UNNAMED --enable-preview -XX:+UseZGC shop.Main":         "Main",
		"java -p mods -m shop/org.shop.Main":                                                             "Main",
		"java --module-path mods --module=shop/org.shop.Main x":                                          "Main",
		"java -m shop":           "shop",
		"java @options":          "",
		"java Prices.java":       "Prices",
		"java -jar":              "",
		"java -version":          "",
		"java org/shop/Main":     "Main",
		"java -cp":               "",
		"java -agentlib:x=y.Z A": "A",
	} {
		if got := launchedByJava(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
