// Package all lists the formats unstall reads. One more format is a package
// beside this one and a line here.
package all

import (
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/accesslog"
	"github.com/unstall/unstall/internal/format/classhisto"
	"github.com/unstall/unstall/internal/format/container"
	"github.com/unstall/unstall/internal/format/dotnetcounters"
	"github.com/unstall/unstall/internal/format/dotnetstack"
	"github.com/unstall/unstall/internal/format/exchanges"
	"github.com/unstall/unstall/internal/format/gauges"
	"github.com/unstall/unstall/internal/format/gcmonitor"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/gobuild"
	"github.com/unstall/unstall/internal/format/gopprof"
	"github.com/unstall/unstall/internal/format/gotrace"
	"github.com/unstall/unstall/internal/format/hotspotgc"
	"github.com/unstall/unstall/internal/format/hsperf"
	"github.com/unstall/unstall/internal/format/hugepages"
	"github.com/unstall/unstall/internal/format/jfr"
	"github.com/unstall/unstall/internal/format/jstat"
	"github.com/unstall/unstall/internal/format/jvmtext"
	"github.com/unstall/unstall/internal/format/kernelstacks"
	"github.com/unstall/unstall/internal/format/loadresult"
	"github.com/unstall/unstall/internal/format/nettrace"
	"github.com/unstall/unstall/internal/format/perfmon"
	"github.com/unstall/unstall/internal/format/perfscript"
	"github.com/unstall/unstall/internal/format/phpfpm"
	"github.com/unstall/unstall/internal/format/procfs"
	"github.com/unstall/unstall/internal/format/redislog"
	"github.com/unstall/unstall/internal/format/redisreply"
	"github.com/unstall/unstall/internal/format/socketstat"
	"github.com/unstall/unstall/internal/format/spans"
	"github.com/unstall/unstall/internal/format/syscalls"
	"github.com/unstall/unstall/internal/format/sysstat"
	"github.com/unstall/unstall/internal/format/threaddump"
	"github.com/unstall/unstall/internal/format/vthreads"
)

// Formats in the order they are asked; order matters only among those that
// answer Maybe.
var Formats = []format.Format{
	gotrace.Format,
	gopprof.Format,
	nettrace.Format,
	spans.Format,
	hotspotgc.Format,
	gcmonitor.Format,
	gctrace.Format,
	gobuild.Format,
	loadresult.Format,
	hsperf.Format,
	jstat.Format,
	vthreads.Format,
	jfr.Format,
	procfs.Format,
	sysstat.Format,
	socketstat.Format,
	perfscript.Format,
	syscalls.Format,
	kernelstacks.Format,
	exchanges.Format,
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
	phpfpm.Both,
	phpfpm.Access,
	accesslog.Format,
}
