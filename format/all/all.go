// Package all lists the formats unstall reads. One more format is a package
// beside this one and a line here.
package all

import (
	"github.com/unstall/unstall/format"
	"github.com/unstall/unstall/format/accesslog"
	"github.com/unstall/unstall/format/classhisto"
	"github.com/unstall/unstall/format/container"
	"github.com/unstall/unstall/format/dotnetcounters"
	"github.com/unstall/unstall/format/dotnetstack"
	"github.com/unstall/unstall/format/gauges"
	"github.com/unstall/unstall/format/gctrace"
	"github.com/unstall/unstall/format/gobuild"
	"github.com/unstall/unstall/format/gopprof"
	"github.com/unstall/unstall/format/gotrace"
	"github.com/unstall/unstall/format/hotspotgc"
	"github.com/unstall/unstall/format/hsperf"
	"github.com/unstall/unstall/format/hugepages"
	"github.com/unstall/unstall/format/jfr"
	"github.com/unstall/unstall/format/jvmtext"
	"github.com/unstall/unstall/format/kernelstacks"
	"github.com/unstall/unstall/format/loadresult"
	"github.com/unstall/unstall/format/nettrace"
	"github.com/unstall/unstall/format/perfmon"
	"github.com/unstall/unstall/format/perfscript"
	"github.com/unstall/unstall/format/phpfpm"
	"github.com/unstall/unstall/format/procfs"
	"github.com/unstall/unstall/format/redislog"
	"github.com/unstall/unstall/format/redisreply"
	"github.com/unstall/unstall/format/spans"
	"github.com/unstall/unstall/format/syscalls"
	"github.com/unstall/unstall/format/sysstat"
	"github.com/unstall/unstall/format/threaddump"
	"github.com/unstall/unstall/format/vthreads"
)

// Formats in the order they are asked; order matters only among those that
// answer Maybe.
var Formats = []format.Format{
	gotrace.Format,
	gopprof.Format,
	nettrace.Format,
	spans.Format,
	hotspotgc.Format,
	gctrace.Format,
	gobuild.Format,
	loadresult.Format,
	hsperf.Format,
	vthreads.Format,
	jfr.Format,
	procfs.Format,
	sysstat.Format,
	perfscript.Format,
	syscalls.Format,
	kernelstacks.Format,
	hugepages.Format,
	container.Format,
	dotnetcounters.Format,
	perfmon.Format,
	dotnetstack.Format,
	threaddump.Format,
	classhisto.Format,
	jvmtext.Format,
	redisreply.Format,
	redislog.Format,
	gauges.Format,
	gauges.Log,
	phpfpm.Status,
	phpfpm.Config,
	phpfpm.Slow,
	phpfpm.Log,
	phpfpm.Access,
	accesslog.Format,
}
