// Package redacttest holds what tests plant into what is recorded: secrets of many
// kinds as they stand in logs, arguments and labels, and what looks like one and must
// stay. None of them was ever valid.
package redacttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Secret is one planted text.
type Secret struct {
	Kind string
	Text string // as it stands somewhere
	Hide string // what of it must not be seen
	Args bool   // Text is a command line's, separated by spaces
}

// body makes texts like those that vendors draw, the same each time.
type body struct{ r *rand.Rand }

func (b body) drawText(n int, letters string) string {
	var s strings.Builder
	for range n {
		s.WriteByte(letters[b.r.IntN(len(letters))])
	}
	return s.String()
}

const (
	digits  = "0123456789"
	hex     = digits + "abcdef"
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	uppers  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum   = digits + lowers + uppers
	upperNo = uppers + digits
)

// Secrets are the planted ones.
func Secrets() (all []Secret) {
	b := body{rand.New(rand.NewPCG(1, 2))}
	add := func(kind, format, hide string) {
		all = append(all, Secret{Kind: kind, Text: strings.ReplaceAll(format, "%s", hide), Hide: hide})
	}
	for _, v := range []struct {
		prefix, letters string
		n               int
	}{
		{"AKIA", upperNo, 16}, {"ASIA", upperNo, 16}, {"ABIA", upperNo, 16}, {"AROA", upperNo, 16}, {"amzn.mws.", hex, 32}, {"AIza", alnum, 35}, {"ya29.", alnum, 60}, {"GOCSPX-", alnum, 28}, {"LTAI", alnum, 20}, {"AKID", alnum, 32},
		{"ghp_", alnum, 36}, {"gho_", alnum, 36}, {"ghu_", alnum, 36}, {"ghs_", alnum, 36}, {"ghr_", alnum, 36}, {"github_pat_", alnum, 60}, {"glpat-", alnum, 20}, {"glptt-", alnum, 40}, {"gldt-", alnum, 20}, {"glrt-", alnum, 20},
		{"xoxb-", digits, 24}, {"xoxp-", digits, 30}, {"xoxa-", digits, 30}, {"xoxs-", digits, 30}, {"xoxe-", digits, 30}, {"xapp-", alnum, 40},
		{"sk_live_", alnum, 24}, {"rk_live_", alnum, 24}, {"sk_test_", alnum, 24}, {"pk_live_", alnum, 24}, {"whsec_", alnum, 32}, {"sk-", alnum, 48}, {"sk-proj-", alnum, 48}, {"sk-ant-", alnum, 60}, {"gsk_", alnum, 52}, {"xai-", alnum, 60}, {"pplx-", alnum, 48}, {"r8_", alnum, 37}, {"hf_", alnum, 34}, {"lsv2_pt_", hex, 32},
		{"npm_", alnum, 36}, {"pypi-AgEIcHlwaS5vcmc", alnum, 60}, {"rubygems_", hex, 48}, {"dckr_pat_", alnum, 27}, {"CLOJARS_", hex, 60}, {"dop_v1_", hex, 64}, {"doo_v1_", hex, 64},
		{"shpat_", hex, 32}, {"shpss_", hex, 32}, {"shpca_", hex, 32}, {"SG." + b.drawText(22, alnum) + ".", alnum, 43}, {"key-", hex, 32}, {"xkeysib-", hex, 64}, {"mlsn.", hex, 64}, {"AC", hex, 32}, {"SK", hex, 32},
		{"lin_api_", alnum, 40}, {"ntn_", alnum, 46}, {"secret_", alnum, 43}, {"figd_", alnum, 40}, {"PMAK-", hex, 59}, {"CFPAT-", alnum, 43}, {"ATATT3xFfGF0", alnum, 60}, {"ATBB", alnum, 32},
		{"sq0atp-", alnum, 22}, {"sq0csp-", alnum, 43}, {"EAAA", alnum, 60}, {"rzp_live_", alnum, 14}, {"EZAK", alnum, 54}, {"duffel_live_", alnum, 43}, {"dapi", hex, 32}, {"hvs.", alnum, 90}, {"hvb.", alnum, 90}, {"pul-", hex, 40}, {"dp.pt.", alnum, 43}, {"tskey-", alnum, 30},
		{"NRAK-", upperNo, 27}, {"NRJS-", hex, 19}, {"dt0c01." + b.drawText(24, upperNo) + ".", upperNo, 64}, {"glc_", alnum, 60}, {"glsa_", alnum, 32}, {"sntrys_", alnum, 60}, {"phc_", alnum, 43}, {"sgp_", hex, 40},
		{"AGE-SECRET-KEY-1", upperNo, 58}, {"AKCp", alnum, 69}, {"bkua_", hex, 40}, {"CCIPAT_", alnum, 60}, {"nfp_", alnum, 36}, {"fo1_", alnum, 43}, {"sbp_", hex, 40}, {"pscale_tkn_", alnum, 43}, {"pscale_pw_", alnum, 43}, {"EAACEdEose0cBA", alnum, 40}, {"HRKU-", hex, 40},
	} {
		add("key "+v.prefix, "upstream refused %s: not allowed", v.prefix+b.drawText(v.n, v.letters))
	}
	add("telegram bot", "bot %s started", b.drawText(9, digits)+":AA"+b.drawText(33, alnum))
	add("discord bot", "login %s", "M"+b.drawText(23, alnum)+"."+b.drawText(6, alnum)+"."+b.drawText(27, alnum))
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + b.drawText(43, alnum)
	add("web token", "got %s from cache", jwt)
	add("web token in a path", "GET /verify-email/%s 200", jwt)
	for _, f := range []string{
		"password=%s", "passwd: %s", `{"password":"%s"}`, `{"db":{"Password":"%s"}}`, `db_password="%s"`, "user=bob pass=x1 DB_PASSWORD=%s", "DB_PASS=%s", "secret=%s", "client_secret=%s&x=1", "api_key=%s", "apikey: %s", `"apiKey": "%s"`, "X-Api-Key: %s",
		"access_token=%s", "refresh_token=%s", `{"id_token":"%s"}`, "auth_token: %s", "passphrase=%s", "private_key=%s", "signing.key=%s", "spring.datasource.password=%s", "aws_secret_access_key = %s", "SharedAccessKey=%s", "AccountKey=%s;EndpointSuffix=core",
		"Authorization: Bearer %s", "Authorization: Token %s", "Proxy-Authorization: Basic %s", "sent Bearer %s now", "Cookie: sid=%s; theme=dark", "Set-Cookie: SESSION=%s; Path=/", "JSESSIONID=%s", "PHPSESSID=%s", "connect.sid=%s", "X-CSRF-Token: %s", "X-Amz-Security-Token: %s", "X-Vault-Token: %s", "X-Auth-Token: %s", "requirepass %s", "--token %s", "--password %s", "--api-key=%s",
		"postgres://bob:%s@db:5432/shop", "mysql://root:%s@db/shop", "redis://:%s@cache:6379/0", "mongodb+srv://u:%s@c0.example.net/x", "amqp://guest:%s@mq/", "https://bob:%s@git.example.com/x.git", "bob:%s@tcp(db:3306)/shop", "Server=db;User Id=sa;Password=%s;Encrypt=true", "jdbc:postgresql://db/x?user=a&password=%s", "ftp://u:%s@h/x", "smtp://u:%s@mail:587",
		"GET /login?password=%s HTTP/1.1", "GET /a?x=%s HTTP/1.1", "GET /a?b=1&email=%s 200", "POST /cb?code=%s&state=1 200", "/p?q=1#x /s?sig=%s", `"uri":"/x?a=%s\u0026b=2"`, `"query":"id=5&invite=%s"`, "GET /search id=5&name=%s 80", "https://h/dl?X-Amz-Signature=%s", "Referer: https://h/y?t=%s",
	} {
		add(f, f, "hZ4"+b.drawText(13, alnum)+"q9")
	}
	for _, f := range []string{"GET /invite/%s HTTP/1.1", "GET /reset-password/%s 200", `"path":"/share/%s"`, "POST https://hooks.slack.com/services/T01234567/B01234567/%s", "POST https://discord.com/api/webhooks/1234567890/%s", "GET /unsubscribe/%s", "GET /api/v1/tokens/%s", "GET /magic/%s?x", "GET /dl/%s/file.zip", "request_uri=/session/%s/end"} {
		add(f, f, b.drawText(24, alnum)+"7aB")
	}
	uuid := func() string {
		return b.drawText(8, hex) + "-" + b.drawText(4, hex) + "-4" + b.drawText(3, hex) + "-a" + b.drawText(3, hex) + "-" + b.drawText(12, hex)
	}
	add("uuid in a path", "GET /invitations/%s/accept 200", uuid())
	add("uuid at the end", `"GET /orders/%s HTTP/1.1" 200`, uuid())
	add("hex in a path", "GET /k/%s 200", b.drawText(20, hex)+"7f")
	for _, f := range []string{"sent to %s", "user %s logged in", `{"email":"%s"}`, "GET /users/%s/orders 200", "From: Bob <%s>", "mailto:%s"} {
		add("e-mail: "+f, f, "bob."+b.drawText(6, lowers)+"@mail.example.com")
	}
	add("escaped e-mail", "GET /users/%s/orders 200", "bob"+b.drawText(6, lowers)+"%40example.com")
	for _, c := range []string{"4111111111111111", "5555555555554444", "378282246310005", "4012 8888 8888 1881", "6011-1111-1111-1117", "3530111333300000"} {
		add("card "+c, "paid with %s today", c)
	}
	add("private key", "-----BEGIN RSA PRIVATE KEY-----%s-----END RSA PRIVATE KEY-----", b.drawText(64, alnum))
	add("private key in JSON", `{"private_key_pem":"-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"}`, b.drawText(64, alnum))
	for _, f := range []string{"app --token %s serve", "app --password=%s", "app -password %s", "java -Dplain=%s -jar a.jar", "java -jar a.jar --token x2 %s", "java -Dspring.datasource.password=%s Main", "app NAME=%s", "app run %s", "curl -u bob:%s http://h", "redis-cli -a %s", "mysql -h db -p%s"} {
		all = append(all, Secret{Kind: f, Text: fmt.Sprintf(f, "hZ4plantedq9")[:0] + strings.ReplaceAll(f, "%s", "hZ4"+b.drawText(1, digits)+"pla7nted"), Args: true})
		last := &all[len(all)-1]
		i := strings.Index(last.Text, "hZ4")
		last.Hide = strings.Fields(last.Text[i:])[0]
	}
	return all
}

// Harmless are texts that must stay as they are.
var Harmless = []string{
	"GET /api/v2/items HTTP/1.1", "GET /play/1001 200", "GET /static/app.3f2a9c1b.js", "GET /healthz", "GET /api/v1/namespaces/default/pods", "POST /graphql", "GET /orders/4711/items", "GET /metrics", "/index.html", "/api/v10/users/me",
	"main.(*Server).handle", "net/http.(*conn).serve", "runtime.gcBgMarkWorker", "github.com/jackc/pgx/v5/pgconn.(*PgConn).ExecParams", "main.main.func1.2", "sync.(*Mutex).Lock", "crypto/tls.(*Conn).readRecordOrCCS", "encoding/json.(*decodeState).literalStore", "go.shape.struct { Key string }", "github.com/acme/tokens.(*Store).Get",
	"com.acme.web.OrderController.getOrderById(OrderController.java:42)", "java.base@17.0.1/java.lang.Thread.run(Thread.java:840)", "jdk.internal.misc.Unsafe.park(java.base@21.0.2/Native Method)", "com.acme.App$$Lambda/0x00007f8b1c000400.run", "org.springframework.web.servlet.DispatcherServlet.doDispatch", "[Ljava.lang.String;", "java.util.concurrent.ThreadPoolExecutor$Worker",
	"System.Threading.Tasks.Task.ExecuteWithThreadLocal", "Microsoft.AspNetCore.Server.Kestrel.Core", "App.<GetUserAccountByIdAsync>d__12.MoveNext", "System.Collections.Concurrent.ConcurrentDictionary`2[System.String,System.Int32]",
	"golang.org/x/net@v0.1.0/http2/server.go", "/root/go/pkg/mod/golang.org/x/exp@v0.0.0-20260908205506-85c1c2202aba/trace/reader.go", "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", "/usr/local/go/src/runtime/proc.go", "/home/ci/build/cmd/server/main.go",
	"go1.26.8", "v1.22.3", "JDK 17.0.9+9-Ubuntu-120.04", "8.0.36-0ubuntu0.22.04.1", "1.2.3-beta.20240101", "temurin-25-jdk-amd64",
	"commit 3f2a9c1b7d", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "vcs.revision=9fceb02d0ae598e95dc970b74767f19372d61af8", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "build id 0f343b0931126a20f133d67c2b018a3b",
	"gc 12 @3.456s 2%: 0.018+1.3+0.076 ms clock, 0.15+0.59/1.2/3.0+0.61 ms cpu, 4->4->1 MB, 5 MB goal, 8 P", "[2026-10-10T13:55:36.123+0000][3.456s][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms",
	"[12.345s][info][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 123456789 ns", "-XX:MaxHeapSize=268435456", "-Xlog:gc*:file=gc.log:time,uptime,level,tags", "GOGC=100", "GOMEMLIMIT=512MiB",
	"http-nio-8080-exec-10", "ForkJoinPool.commonPool-worker-3", "pool-1-thread-2", "C2 CompilerThread0", "G1 Main Marker", "kafka-producer-network-thread | producer-1", "lettuce-nioEventLoop-4-1", "OkHttp TaskRunner",
	"203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] \"GET /play/1001 HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\"",
	"status=200 code=OK tokens=512 took=3ms", "{\"token_count\":3,\"max_tokens\":1,\"status\":200}", "time=2026-10-10T13:55:36.123456789Z level=info msg=\"request done\" duration_ms=3.25 bytes=512", "1760104536123456", "1760104536123456789", "user 1000 session opened", "select id, name from items where key = $1",
	"dial tcp 10.0.0.5:5432: connect: connection refused", "cpu 1234 5678 9012 3456", "0x00007f8b1c000400", "pod web-1 in zone eu-west-1b", "task refresh of cache items", "monthly password rotation job done", "no basic information, bearer of news",
}
