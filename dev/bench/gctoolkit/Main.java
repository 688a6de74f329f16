package bench;

import com.microsoft.gctoolkit.GCToolKit;
import com.microsoft.gctoolkit.aggregator.Aggregates;
import com.microsoft.gctoolkit.aggregator.Aggregation;
import com.microsoft.gctoolkit.aggregator.Aggregator;
import com.microsoft.gctoolkit.aggregator.Collates;
import com.microsoft.gctoolkit.aggregator.EventSource;
import com.microsoft.gctoolkit.event.g1gc.G1GCPauseEvent;
import com.microsoft.gctoolkit.event.generational.GenerationalGCPauseEvent;
import com.microsoft.gctoolkit.io.SingleGCLogFile;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * Reads one GC log with gctoolkit whenever a line comes on standard input, and prints the
 * processor time and the wall time it took (s), the pauses it found and their sum (s). The
 * first readings are slower than those after the compilers are done.
 */
public final class Main {
    public static void main(String[] args) throws Exception {
        var os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            long cpu = os.getProcessCpuTime();
            long wall = System.nanoTime();
            var kit = new GCToolKit();
            kit.loadAggregation(new Pauses());
            var jvm = kit.analyze(new SingleGCLogFile(Path.of(args[0])));
            var pauses = jvm.getAggregation(Pauses.class).orElseThrow();
            System.out.printf("%.6f %.6f %d %.6f%n", (os.getProcessCpuTime() - cpu) / 1e9, (System.nanoTime() - wall) / 1e9,
                pauses.count, pauses.seconds);
            System.out.flush();
        }
        System.exit(0);
    }

    /** The sum of all pauses: what a reader of a log asks for at least. */
    @Collates(Pauser.class)
    public static final class Pauses extends Aggregation {
        long count;
        double seconds;

        void add(double duration) {
            count++;
            seconds += duration;
        }

        @Override
        public boolean hasWarning() {
            return false;
        }

        @Override
        public boolean isEmpty() {
            return count == 0;
        }
    }

    /** Feeds it. */
    @Aggregates({EventSource.G1GC, EventSource.GENERATIONAL})
    public static final class Pauser extends Aggregator<Pauses> {
        public Pauser(Pauses pauses) {
            super(pauses);
            register(G1GCPauseEvent.class, event -> pauses.add(event.getDuration()));
            register(GenerationalGCPauseEvent.class, event -> pauses.add(event.getDuration()));
        }
    }
}
