import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Keeps a flight recorder busy: threads that allocate, compute, wait for locks and sleep below ever other calls. */
public class Busy {
    static final int WAYS = 2000; // a service has some thousand stacks, not as many as events
    static final Object[] locks = new Object[8];
    static volatile Object sink;
    static volatile long sum;

    /** Goes down a way of so many calls, and does something at its end. */
    static void work(int depth, long way, ThreadLocalRandom r) throws Exception {
        if (depth > 0) {
            switch ((int) (way >>> 3 * (depth % 20)) & 7) {
                case 0: left(depth, way, r); return;
                case 1: right(depth, way, r); return;
                case 2: up(depth, way, r); return;
                case 3: down(depth, way, r); return;
                case 4: over(depth, way, r); return;
                case 5: under(depth, way, r); return;
                case 6: through(depth, way, r); return;
                default: around(depth, way, r); return;
            }
        }
        switch (r.nextInt(4)) {
            case 0: sink = new byte[2000 + r.nextInt(30_000)]; return;
            case 1: text(r); return;
            case 2: table(r); return;
            default: locked(r);
        }
    }

    static void left(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void right(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void up(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void down(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void over(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void under(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void through(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }
    static void around(int d, long way, ThreadLocalRandom r) throws Exception { work(d - 1, way, r); }

    static void text(ThreadLocalRandom r) {
        StringBuilder b = new StringBuilder();
        for (int i = r.nextInt(200); i > 0; i--) b.append(i);
        sink = b.toString();
    }

    static void table(ThreadLocalRandom r) {
        Map<Integer, List<String>> m = new HashMap<>();
        for (int i = r.nextInt(50); i > 0; i--) m.computeIfAbsent(i % 7, k -> new ArrayList<>()).add("x" + i);
        sink = m;
    }

    static void locked(ThreadLocalRandom r) throws Exception {
        synchronized (locks[r.nextInt(locks.length)]) {
            long x = 0;
            for (int i = 0; i < 2000; i++) x += i * x;
            sum = x;
            if (r.nextInt(50) == 0) Thread.sleep(0, 500_000);
        }
        if (r.nextInt(20) == 0) try { throw new IllegalStateException("no " + r.nextInt(100)); } catch (IllegalStateException e) { sink = e; }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < locks.length; i++) locks[i] = new Object();
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Thread t = new Thread(() -> {
                ThreadLocalRandom r = ThreadLocalRandom.current();
                try { while (System.nanoTime() < until) {
                        long seed = r.nextInt(WAYS);
                        work(8 + (int) (seed % 12), seed * 0x9e3779b97f4a7c15L, r);
                    } } catch (Exception e) { throw new RuntimeException(e); }
            }, "busy-" + i);
            t.start();
            all.add(t);
        }
        for (Thread t : all) t.join();
    }
}
