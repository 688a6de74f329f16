/** Keeps the last so many. */
final class Ring {
    private final Object[] kept;
    private int next;

    Ring(int many) {
        kept = new Object[many];
    }

    synchronized void add(Object one) {
        if (kept.length > 0) {
            kept[next++ % kept.length] = one;
        }
    }
}
