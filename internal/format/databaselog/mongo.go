package databaselog

import (
	"bytes"
	"math"
	"strings"
)

// What lines of MongoDB about operations that took longer than slowOpThresholdMs have: JSON since 4.4, text before.
//
//	{"t":{"$date":"…"},…,"msg":"Slow query","attr":{"ns":"shop.orders","command":{"find":"orders",…},"planSummary":"COLLSCAN","docsExamined":32402597,…,"durationMillis":42216}}
//	2022-06-07T02:25:15.295+0800 I COMMAND [conn3] command shop.orders command: find { … } planSummary: COLLSCAN … docsExamined:108021 … locks:{ … } protocol:op_query 1297ms
//
// https://www.mongodb.com/docs/manual/reference/log-messages/#logging-slow-operations, versions 2.4 to 8.
var (
	mongoSlow  = []byte(`"msg":"Slow query"`)
	mongoPlan  = []byte(" planSummary: ")
	mongoLocks = []byte(" locks:{ ")
)

// mongoLeast is the shortest operation that is counted as slow: the log has those of 100 ms and more.
const mongoLeast = 1e9

// operation is an operation of MongoDB.
type operation struct {
	text             string // its command, its collection, its plan
	ns, locked, docs float64
}

// parseMongo reads such a line. Operations that wait for new entries by design are none.
func parseMongo(l []byte) (op operation, ok bool) {
	json := bytes.Contains(l, mongoSlow)
	if !json && !bytes.Contains(l, mongoPlan) && !bytes.Contains(l, mongoLocks) {
		return op, false
	}
	text := string(bytes.TrimRight(l, " \r\n`'\""))
	var command, collection, plan string
	if json {
		op.ns, ok = parseNumber([]byte(textAfter(text, `"durationMillis":`)), 1e6)
		command, _, _ = strings.Cut(textAfter(text, `"command":{"`), `"`)
		collection, _, _ = strings.Cut(textAfter(text, `"ns":"`), `"`)
		plan = textAfter(text, `"planSummary":"`)
		op.docs, _ = parseNumber([]byte(textAfter(text, `"docsExamined":`)), 1)
	} else {
		whole, found := strings.CutSuffix(text, "ms")
		i := strings.LastIndexByte(whole, ' ')
		if !found || i < 0 {
			return op, false
		}
		if op.ns, ok = parseNumber([]byte(whole[i+1:]), 1e6); !ok {
			return op, false
		}
		f := strings.Fields(textAfter(text, "] "))
		if len(f) < 2 || !strings.Contains(f[1], ".") {
			return op, false
		}
		command, collection = f[0], f[1]
		if c := strings.Fields(textAfter(text, " command: ")); len(c) > 0 && command == "command" {
			command = c[0]
		}
		plan = textAfter(text, string(mongoPlan))
		op.docs, _ = parseNumber([]byte(textAfter(text, "docsExamined:")), 1)
	}
	op.locked = lockedMongo(text)
	plan = plan[:len(plan)-len(strings.TrimLeft(plan, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"))]
	for _, s := range []*string{&command, &collection} {
		*s = strings.ToValidUTF8((*s)[:min(len(*s), mostMongoName)], "?")
	}
	op.text = strings.TrimSpace(command + " " + collection + " " + plan)
	if op.docs == 0 {
		op.docs = math.NaN()
	}
	return op, ok && command != "hello" && command != "isMaster" && !strings.HasSuffix(collection, ".oplog.rs")
}

const mostMongoName = 120

// lockedMongo returns the longest wait for locks (ns) that a line tells of.
func lockedMongo(text string) (most float64) {
	for {
		_, rest, ok := strings.Cut(text, "timeAcquiringMicros")
		if !ok {
			return most
		}
		text = rest
		if v, found := parseNumber([]byte(strings.TrimLeft(rest[:min(len(rest), 40)], `": {rwRW`)), 1e3); found {
			most = max(most, v)
		}
	}
}

// textAfter returns what follows words, "" without these.
func textAfter(text, words string) string {
	_, rest, _ := strings.Cut(text, words)
	return rest
}
