package runtime

import (
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
	"github.com/unstall/unstall/top"
)

// JVM is a Java virtual machine: HotSpot and what is built from it
// (https://openjdk.org/groups/hotspot).
var JVM = &Runtime{
	ID:            "jvm",
	Title:         "JVM",
	Versioned:     "Java",
	Lane:          "thread",
	Launchers:     []string{"java"},
	Hosts:         true,
	States:        looksAtThreads,
	Requests:      Go.Requests,
	Reasons:       true,
	Records:       true,
	Dump:          "jstack",
	Stacks:        &threads.JVMStacks,
	Counters:      &top.JVM,
	ReadCollector: reading.JVMCollector,
}

// looksAtThreads shows the states of requests that run on threads.
var looksAtThreads = Evidence{"requests and what their threads do", "unstall record PID"}
