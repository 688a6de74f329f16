package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/unstall/unstall/lab/build"
)

// raven is RavenDB, a database of documents: written for .NET 8, run on .NET 9. Its
// documents are in memory. Other settings of the runtime are variables of its environment.
var raven = program{
	name: "raven",
	fetch: wheel{name: "ravendb-embedded", version: "7.1.5", sum: "d99800b89be6b6658033f259c19664fb367bc7335a0eda4e6718110f9baef9fe",
		folder: "ravendb_embedded/target/nuget/contentFiles/any/any/RavenDBServer"},
	start: func(p *place) {
		p.main = p.addressOf("http")
		p.bin = findDotnet9()
		p.args = []string{"exec", "--roll-forward", "Major", filepath.Join(p.home, "program/Raven.Server.dll"), "--non-interactive",
			"--ServerUrl=http://" + p.main, "--ServerUrl.Tcp=tcp://127.0.0.1:0", "--Setup.Mode=None", "--License.Eula.Accepted=true",
			"--Security.UnsecuredAccessAllowed=Local", "--RunInMemory=true", "--DataDir=" + p.dir + "/data", "--Logs.Path=" + p.dir + "/logs"}
		p.patience = time.Minute
		db := "http://" + p.main + "/databases/shop"
		p.prepare = func(ctx context.Context) error {
			shop := `{"DatabaseName":"shop","Settings":{"RunInMemory":"true"},"Topology":{}}`
			// On .NET 9 it creates the database and then fails its own check of it.
			_ = sendHTTP(ctx, http.MethodPut, "http://"+p.main+"/admin/databases?name=shop", []byte(shop))
			if err := postBody(ctx, db+"/bulk_docs", ravenOrders(2000)); err != nil {
				return err
			}
			return getURL(ctx, db+"/queries?waitForNonStaleResultsTimeout=00:00:20&query="+url.QueryEscape(ravenQuery+"7"))
		}
		p.load = []traffic{
			httpLoad{rate: 40, method: "PUT", paths: []string{"/databases/shop/docs?id=orders/{n%2000}"}, body: ravenOrder(17)}.sendRequests,
			httpLoad{rate: 100, paths: []string{"/databases/shop/docs?id=orders/{n%2000}"}}.sendRequests,
			httpLoad{rate: 40, paths: []string{"/databases/shop/queries?query=" + url.QueryEscape(ravenQuery) + "{n%50}"}}.sendRequests}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 40 documents written, 100 read and 40 queries of an index a second"},
		{name: "quota", truth: "a CPU quota of 0.2 CPUs", sick: func(p *place) { p.quota = .2 }},
		{name: "heap-limit", truth: "DOTNET_GCHeapHardLimit: a heap of so little that it is collected all the time", sick: func(p *place) {
			p.addEnv("DOTNET_GCHeapHardLimit=0x3400000")
		}},
	},
}

const ravenQuery = "from Orders where customer = "

func ravenOrder(n int) []byte {
	order := map[string]any{"customer": n % 50, "note": string(bodyText(300)), "@metadata": map[string]string{"@collection": "Orders"}}
	out, _ := json.Marshal(order)
	return out
}

func ravenOrders(n int) []byte {
	var puts []map[string]any
	for i := range n {
		puts = append(puts, map[string]any{"Id": fmt.Sprintf("orders/%d", i), "Type": "PUT", "Document": json.RawMessage(ravenOrder(i))})
	}
	out, _ := json.Marshal(map[string]any{"Commands": puts})
	return out
}

// findDotnet9 returns the path of a dotnet that runs on .NET 9, which it finds or fetches;
// "dotnet" if it cannot.
func findDotnet9() string {
	dotnet, err := build.FindDotnet9(context.Background(), true, func(string) {})
	if err != nil {
		return "dotnet"
	}
	return dotnet
}
