package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`java -Xmx2g -XX:+UseG1GC -Dplain=hunter2secret -Dserver.port=8080 -Dx=true -Djava.io.tmpdir=/tmp -cp /app/lib/*:. com.acme.Main server app.yml`,
			`java -Xmx2g -XX:+UseG1GC -Dplain=[redacted] -Dserver.port=8080 -Dx=true -Djava.io.tmpdir=/tmp -cp /app/lib/*:. com.acme.Main server app.yml`},
		{`java -jar app.jar --token VALUE1 hunter2 s3cr3tpositional`, `java -jar app.jar --token [redacted] [redacted] [redacted]`},
		{`/usr/bin/app serve -addr 127.0.0.1:8080 --mode prod --region eu-west-1 10s 512MB v1.2.3`,
			`/usr/bin/app serve -addr 127.0.0.1:8080 --mode prod --region eu-west-1 10s 512MB v1.2.3`},
		{`app correcthorsebatterystaple A1b2C3d4E5 user=bob NAME=`, `app [redacted] [redacted] user=[redacted] NAME=`},
		{`dotnet /srv/App.dll --urls http://127.0.0.1:5000 --Key:Sub=x`, `dotnet /srv/App.dll --urls http://127.0.0.1:5000 --Key:Sub=x`},
		{`./server -storageDataPath=/data -retentionPeriod=1d -search.maxQueryDuration 30s`, `./server -storageDataPath=/data -retentionPeriod=1d -search.maxQueryDuration 30s`},
	} {
		if d := cmp.Diff(c.want, Words(c.in)); d != "" {
			t.Error(d)
		}
		if again := Words(Words(c.in)); again != c.want {
			t.Errorf("twice %s", again)
		}
	}
}
