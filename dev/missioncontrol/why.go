package main

// answer is unstall's counterpart of a rule of Mission Control.
type answer struct {
	causes []string // causes about the same; none: there is no such cause
	why    string   // the reason where the rule fires and they do not
}

// answers maps the id of each rule that fires on a recording of the tree to its answer. A rule
// that newly fires has to be examined first.
var answers = map[string]answer{
	"Allocations.class":  {[]string{"jvm.young-gc-rate"}, "it fires wherever there is allocation, and names the class; here classes and places are told where collections cost time"},
	"Allocations.thread": {[]string{"jvm.young-gc-rate"}, "likewise; threads of a pool are alike, so the place in the program is told"},
	"CompareCpu": {[]string{"linux.noisy-neighbour", "linux.cpu-saturation"}, "what else runs on the host (here the sender of the load, for one) costs a service only if its threads wait for a CPU, of which a recording has " +
		"nothing: these causes ask for what `unstall record` adds, and so say that it is missing"},
	"DuplicateFlags":    {nil, "an option given twice makes no request slow"},
	"Fatal Errors":      {nil, "it says how the JVM ended, here because `main` had; one that ended is not slow"},
	"FewSampledThreads": {nil, "how many threads work at a time is told beside requests; of itself it is not wrong"},
	"FullGc": {[]string{"jvm.full-gc", "jvm.explicit-gc"}, "it fires on each collection called `G1Old`, those of `System.gc()` included, and on concurrent cycles; here one that was asked for is " +
		"`jvm.explicit-gc`, and a single one in two seconds says nothing about a share of the time"},
	"GcInvertedParallelism": {[]string{"jvm.gc-cpu-starved"}, "it counts collections that took longer than the CPU time of their threads, however short they were; here the time counts by which " +
		"lack of CPU made them longer"},
	"HighGc":                     {[]string{"jvm.full-gc"}, "the same, by the worst second instead of by the whole time"},
	"IncreasingMetaSpaceLiveSet": {[]string{"jvm.metaspace-gc"}, "classes are loaded while a program starts; here only collections for want of metaspace count, of which there are none"},
	"JavaBlocking": {[]string{"jvm.lock-contention"}, "it sums what all threads waited, from half a second on; here the threads that wait at a time are counted, on the average of looks four " +
		"times a second: less than one is no queue, and in recordings of two seconds looks are few, and may meet none"},
	"SocketRead": {[]string{"service.dependency-slow"}, "the reads of several seconds are those of connections that wait for their next request, which is idle; the stack says which are of a " +
		"call, as in jdk17, and without requests nothing says that one waited for it"},
	"TlabAllocationRatio": {[]string{"jvm.young-gc-rate"}, "how memory is taken is not told, only how much, and where"},
}
