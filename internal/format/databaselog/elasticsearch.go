package databaselog

import (
	"bytes"
	"math"
	"strings"
)

// Entries of the slow logs of Elasticsearch and OpenSearch, one for each shard that took longer than its threshold: text up to 6, JSON since 7, ECS since 8.
//
//	[2018-05-16 06:59:17,400][WARN ][index.search.slowlog.query] [node-1] [places][3] took[19.5s], took_millis[19536], types[], …, source[{…}]
//	{"type": "index_search_slowlog", …, "message": "[places][3]", "took": "19.5s", "took_millis": "19536", …, "source": "{…}"}
//	{…,"log.logger":"index.search.slowlog.query","elasticsearch.slowlog.message":"[places][3]","elasticsearch.slowlog.took_millis":19536,…}
//
// https://www.elastic.co/docs/reference/elasticsearch/index-settings/slow-log, versions 1 to 9. A search waits for the slowest of its shards; what it looks for is not kept.
var elasticTook = []byte("took_millis")

// parseElastic reads such an entry.
func parseElastic(l []byte) (op operation, name string, ok bool) {
	i := bytes.Index(l, elasticTook)
	if i < 0 || !bytes.Contains(l, []byte("slowlog")) {
		return op, "", false
	}
	op.ns, ok = parseNumber(bytes.TrimLeft(l[i+len(elasticTook):], `":[ `), 1e6)
	before := string(l[:i])
	index := textAfter(before, `essage":`) // "message", "elasticsearch.slowlog.message"
	if index == "" {
		index = before[:max(0, strings.LastIndex(before, " took["))]
		index = index[strings.LastIndexByte(index, ' ')+1:]
	}
	index, _, _ = strings.Cut(strings.TrimLeft(index, ` "[`), "]")
	index, _, _ = strings.Cut(index, "/") // "places/uuid" of an entry of indexing
	what := "search"
	switch {
	case strings.Contains(before, "slowlog.fetch"), strings.Contains(before, "i.s.s.fetch"):
		what = "fetch"
	case strings.Contains(before, "indexing"):
		what = "index"
	}
	op.text = what + " " + strings.ToValidUTF8(index[:min(len(index), mostMongoName)], "?")
	op.docs = math.NaN()
	if name = "Elasticsearch"; bytes.Contains(l, []byte("opensearch")) {
		name = "OpenSearch"
	}
	return op, name, ok && index != "" && !strings.ContainsAny(index, " \t")
}

// searchLeast (ns) is the shortest entry that is counted as slow: the threshold of such a log may be any.
const searchLeast = 1e9
