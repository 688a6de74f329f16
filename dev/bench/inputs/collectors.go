package inputs

import (
	"bytes"
	"fmt"
	"time"
)

// ParallelCollection writes what JDK 8 logs of a young collection of Parallel under -XX:+PrintGCDetails, and of a full one now and then.
func ParallelCollection(w *bytes.Buffer, i int) {
	stamp := func(more time.Duration) string {
		t := Began.Add(time.Duration(i)*600*time.Millisecond + more)
		return fmt.Sprintf("%s: %.3f", t.Format("2006-01-02T15:04:05.000-0700"), 1+t.Sub(Began).Seconds())
	}
	young, old := 9000+i*37%1700, 100_000+i%50*900
	fmt.Fprintf(w, "%s: [GC (Allocation Failure) [PSYoungGen: %dK->%dK(76288K)] %dK->%dK(251392K), 0.00%05d secs] [Times: user=0.0%d sys=0.00, real=0.01 secs] \n",
		stamp(0), 65536+young, young, 65536+young+old, young+old, 40000+i*173%50000, 1+i%3)
	if i%50 == 49 {
		fmt.Fprintf(w, "%s: [Full GC (Ergonomics) [PSYoungGen: %dK->0K(76288K)] [ParOldGen: %dK->99871K(175104K)] %dK->99871K(251392K), [Metaspace: 20512K->20512K(1067008K)], 0.2%06d secs] [Times: user=0.4%d sys=0.00, real=0.21 secs] \n",
			stamp(20*time.Millisecond), young, old, young+old, i*7919%1000000, i/50%10)
	}
}
