package hotspotgc

// collectors are the names in a log that reveal its collector.
type collectors uint16

const (
	seenParNew collectors = 1 << iota
	seenDefNew
	seenCMS
	seenTenured
	seenParallel
	seenG1
	seenShenandoah
	flagCMS // of the command line
	flagParallel
	flagSerial
	flagG1
)

// emitCollector names the collector after the whole log was read: a young collection alone does not
// show the collector of the old generation.
func (c collectors) emitCollector(o *output, line int64) {
	if name := c.collectorName(); name != "" {
		o.setCollector(name, line)
	}
}

func (c collectors) collectorName() string {
	switch {
	case c&seenShenandoah != 0:
		return "Shenandoah"
	case c&(seenG1|flagG1) != 0:
		return "G1"
	case c&(seenParallel|flagParallel) != 0:
		return "Parallel"
	case c&seenDefNew != 0 && c&seenCMS != 0:
		return "DefNew+CMS"
	case c&(seenCMS|flagCMS) != 0:
		return "ParNew+CMS"
	case c&seenParNew != 0 && c&seenTenured != 0:
		return "ParNew+Serial Old"
	case c&seenParNew != 0:
		return "ParNew+CMS"
	case c&(seenDefNew|seenTenured|flagSerial) != 0:
		return "Serial"
	}
	return ""
}
