package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgs(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`app --password=x --port=80`, `app --password=[redacted] --port=80`},
		{`app --token x --verbose`, `app --token [redacted] --verbose`},
		{`app --token --verbose --api-key`, `app --token --verbose --api-key`},
		{`app -password x -Xmx2g -jar a.jar`, `app -password [redacted] -Xmx2g -jar a.jar`},
		{`java -Djavax.net.ssl.keyStorePassword=x -XX:MaxHeapSize=2g -cp a:b Main`, `java -Djavax.net.ssl.keyStorePassword=[redacted] -XX:MaxHeapSize=2g -cp a:b Main`},
		{`app DB_PASSWORD=x redis://:p@h/0`, `app DB_PASSWORD=[redacted] redis://:[redacted]@h/0`},
		{`app --key /etc/tls.key --cert c --session 0a1b2c3d4e`, `app --key /etc/tls.key --cert c --session [redacted]`},
		{`mysql -h db -pS3CRET -u root`, `mysql -h db -p[redacted] -u root`},
		{`mysql -p shop`, `mysql -p shop`},
		{`nginx -p /srv/www -c a.conf`, `nginx -p /srv/www -c a.conf`},
		{`/usr/bin/redis-cli -a x -h h`, `/usr/bin/redis-cli -a [redacted] -h h`},
		{`redis-server --requirepass x --port 6379`, `redis-server --requirepass [redacted] --port 6379`},
		{`curl -u bob:x http://h`, `curl -u [redacted] http://h`},
		{`app ` + awsKey + ` ` + webToken, `app [redacted] [redacted]`},
		{`unstall record gateway --for 30s -o x.unstall`, `unstall record gateway --for 30s -o x.unstall`},
	} {
		in := strings.Split(c.in, " ")
		before := slices.Clone(in)
		if d := cmp.Diff(strings.Split(c.want, " "), Args(in)); d != "" {
			t.Error(d)
		}
		if !slices.Equal(before, in) {
			t.Errorf("%s: the input was changed", c.in)
		}
	}
	if got := Args(nil); len(got) != 0 {
		t.Error(got)
	}
}

func TestEnv(t *testing.T) {
	got := Env([]string{
		"PATH=/bin", "GOGC=off", "GOMEMLIMIT=2GiB", "AWS_SECRET_ACCESS_KEY=x", "not a variable", "",
		"JAVA_TOOL_OPTIONS=-Xmx2g -Ddb.password=\"a b\" -Dx=1 -Dplain=hunter2secret",
		"DOTNET_gcServer=1", "COMPlus_GCHeapHardLimit=0x8000000", "DOTNET_TieredPGO=false",
		"DOTNET_LICENSE_KEY=12345678", "DOTNET_DbPassword=1234", "DOTNET_STARTUP_HOOKS=/srv/x.dll", "DOTNET_=1",
		"DOTNET_x=0123456789abcdef0123456789abcdef",
		"OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES=team=a, service.name=shop,owner=bob", "OTEL_EXPORTER_OTLP_HEADERS=authorization=x",
	})
	want := []string{
		"GOGC=off", "GOMEMLIMIT=2GiB",
		"JAVA_TOOL_OPTIONS=-Xmx2g -Ddb.password=[redacted] -Dx=1 -Dplain=[redacted]",
		"DOTNET_gcServer=1", "COMPlus_GCHeapHardLimit=0x8000000", "DOTNET_TieredPGO=false",
		"OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES=service.name=shop",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://bob:x@h:6060/debug/pprof?token=y&seconds=5": "http://bob:[redacted]@h:6060/debug/pprof?token=[redacted]&seconds=[redacted]",
		"http://127.0.0.1:6060/debug/pprof":                 "http://127.0.0.1:6060/debug/pprof",
		"/var/log/nginx/access.log":                         "/var/log/nginx/access.log",
	} {
		if got := URL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
