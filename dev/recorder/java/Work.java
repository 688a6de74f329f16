import java.util.concurrent.atomic.AtomicLong;

/** What a request does, in this order: compute, allocate, load classes, wait, answer. */
final class Work {
    private final int compute; // thousands of steps, about a µs each, outside the lock
    private final int locked; // the same, under one lock
    private final long garbage; // bytes of it, in arrays of chunk
    private final int chunk;
    private final int tree; // nodes of a tree that lives as long as the request
    private final int array; // bytes of one array a request, which the last kept requests keep
    private final int wait; // ms, for a dependency
    private final boolean pinned; // which is waited for inside synchronized, on a monitor that nobody else wants
    private final int classes; // class loaders of their own, which the last loaders of them keep
    private final byte[] body;
    private final long leaked; // bytes a request that nobody frees
    private final long lasting; // bytes a request that the last lasted requests keep
    private final int grain; // arrays of which that and what is leaked consists

    private final Object lock = new Object();
    private final Ring arrays;
    private final Ring loaders;
    private final Ring kept;
    private final Ring forever;
    private final AtomicLong sink = new AtomicLong();
    private byte[] last; // what nobody can see is never allocated

    Work(Settings s) {
        compute = s.number("compute");
        locked = s.number("locked");
        garbage = s.size("garbage");
        chunk = Math.max(64, s.number("chunk"));
        tree = s.number("tree");
        array = s.number("array");
        wait = s.number("wait");
        pinned = s.number("pinned") > 0;
        classes = s.number("classes");
        leaked = s.size("leaked");
        lasting = s.size("lasting");
        grain = Math.max(16, s.number("grain"));
        body = new byte[Math.max(16, s.number("body"))];
        arrays = new Ring(s.number("kept"));
        loaders = new Ring(s.number("loaders"));
        kept = new Ring(s.number("lasted"));
        forever = new Ring(leaked > 0 ? 1 << 20 : 0);
    }

    byte[] handle() {
        long sum = steps(compute);
        if (locked > 0) {
            synchronized (lock) {
                sum += steps(locked);
            }
        }
        Tree held = tree > 0 ? Tree.of(tree) : null;
        for (long left = garbage; left > 0; left -= chunk) {
            last = new byte[chunk];
        }
        if (lasting > 0) {
            kept.add(arraysOf(lasting));
        }
        if (leaked > 0) {
            forever.add(arraysOf(leaked));
        }
        if (array > 0) {
            arrays.add(new Object[array / 4]); // of references, as lists and maps have
        }
        for (int n = 0; n < classes; n++) {
            loaders.add(new Loader().load());
        }
        if (wait > 0 && pinned) {
            synchronized (new Object()) {
                ask();
            }
        } else if (wait > 0) {
            ask();
        }
        sink.addAndGet(sum + (held == null ? 0 : held.depth()));
        return body;
    }

    private void ask() {
        try {
            Thread.sleep(wait);
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    private byte[][] arraysOf(long bytes) {
        byte[][] all = new byte[(int) (bytes / grain)][];
        for (int n = 0; n < all.length; n++) {
            all[n] = new byte[grain];
        }
        return all;
    }

    /** Computes; it asks for no memory. */
    static long steps(int thousands) {
        long x = 88172645463325252L;
        for (long n = 1000L * thousands; n > 0; n--) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x & 1;
    }
}
