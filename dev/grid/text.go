package main

const introduction = `# Predictions against measurements

` + "`unstall predict`" + ` and the advice of ` + "`go.gc-rate`" + ` say what another setting of the heap
would do. This page shows how far they are off. The gateway of the go-ballast incident runs
under fixed open-loop loads with many settings; everything is predicted from one recording
of the default setting, of the kind a user makes
(` + "`unstall record PID --load URL`" + `, 12 s). Nothing that was measured elsewhere goes into a
prediction. Each repetition has one recording. Predictions are made from the one whose own
p99 is the median; how far off those from the others are is shown, too.

    make predictions                                                          # measures anew, about 15 minutes on a quiet host, and writes this page
    go run ./dev/grid table -dir out/grid/last -o dev/grid/predictions.md         # judges the last recordings again, with the models as they are now

The p99s and their ranges rest on two figures that no recording shows: how far a host's speed
and the model move a p99, and how much of what a cycle costs a request stays where cycles are
rarer. They were chosen by two earlier grids and by pairs of recordings of other settings;
no run on this page influenced them.

*then/now* is the change from the default to a setting: predicted against measured. What
slows the whole host down is in both and cancels.

`

const leftOut = `
## How it was measured

All services are resident at once and warmed up until their memory is on a plateau;
memory that a large heap needs is touched before. Each repetition runs every setting
once at each load, in random order and under the same arrivals, so a slow minute of the
host meets different settings. A run lasts five seconds, or
as long as four cycles should take, but no more than twelve, after a second and a half
that does not count.

A run is spoilt if other programs, or the hypervisor, used more than a tenth of the CPUs.
Spoilt runs are repeated at the end, the worst first, as long as there is time; of each the
least spoilt run is kept. One that is still spoilt is left out if two runs of its setting
remain. Runs are left out for nothing else: not for their latencies, not for their own CPU.
Figures are medians of the runs.

*cycles* are counted from the end of the first to the end of the last one under the
load. *collector* is what gctrace says assists, workers and idle workers took; a CPU
profile shows more, for it also counts sweeping, which goes with allocation and not with
cycles. *peak heap* is the heap at the end of a cycle. *p99* is from the intended start,
the median over stretches of one second (of three cycles, where those take longer): one
hiccup of a shared host decides the p99 of a whole run.

## What the models leave out

- **The host.** A virtual machine's processors differ by a fifth from minute to minute,
  and near saturation a fifth more work is many times the latency. The prediction is for
  the speed at which the calibration ran.
- **The load generator** shares the two processors with the service. A collector that
  keeps both busy makes the generator and the kernel wait, too; the models know only the
  service's own.
- **Marking that costs more or less.** The work of a cycle is taken to follow what is
  live, and to differ as it did in the recording. Cycles that come rarely find caches cold.
- **The edge.** Where cycles mark for about a hundredth of the time, the p99 lies between
  requests that met one and requests that met none: a cycle more, or one that takes twice
  as long, moves it severalfold.
- **The scheduler's order** is modelled (a queue for each processor, then what has
  arrived since somebody looked, then half of another's queue); timers, wake-ups across
  processors and its fairness every 61st time are not.
- **Waits in between.** A request's work is one stretch: where requests wait for other
  services, what they wait for is added to their latency and does not spread their work.
- **First fill.** Memory that was never used costs page faults, once, after each start;
  here it was touched before.
- **The limiter.** Where the collector would take more than half of the processors, the
  runtime lets the heap grow past its limit. Latencies there are those of a service that
  falls behind, which are as long as one cares to wait.
`
