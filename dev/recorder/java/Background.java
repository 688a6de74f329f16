/** What goes on beside the requests. */
final class Background {
    private final int live; // MiB of small objects that are always there
    private final int collectEvery; // ms between calls of System.gc()
    private final int sumEvery; // ms between sums over an array
    private final int sum; // thousands of steps of one, in a counted loop
    private final int idle; // threads that only wait
    private static Object held;
    private volatile long sink;

    Background(Settings s) {
        live = s.number("live");
        collectEvery = s.number("collect-every");
        sumEvery = s.number("sum-every");
        sum = s.number("sum");
        idle = s.number("idle");
    }

    void start() {
        Object[] all = new Object[live];
        for (int n = 0; n < live; n++) {
            all[n] = Tree.of((1 << 20) / 32);
        }
        held = all;
        every(collectEvery, "cleaner", System::gc);
        every(sumEvery, "report", () -> sink = counted(sum));
        for (int n = 0; n < idle; n++) {
            run("idle-" + n, () -> pause(Integer.MAX_VALUE));
        }
    }

    private void every(int ms, String name, Runnable what) {
        if (ms > 0) {
            run(name, () -> {
                while (pause(ms)) {
                    what.run();
                }
            });
        }
    }

    private void run(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException end) {
            return false;
        }
    }

    /** A loop over an int with a known end: compiled, it need not look for safepoints. */
    static long counted(int thousands) {
        long x = 88172645463325252L;
        int end = 1000 * thousands;
        for (int n = 0; n < end; n++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
