package theatre;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Plans of the halls, which are kept for some seconds. */
class Plans {
    private static final int HALLS = 80;
    private static final long KEPT = 4_500_000_000L;

    private final Halls halls;
    private final Map<Integer, Plan> kept = new ConcurrentHashMap<>();

    Plans(Halls halls) {
        this.halls = halls;
    }

    /** The plan of a hall; with the fault one plan is looked for at a time. */
    Plan plan(int id) {
        if (Main.fault("plans-synchronized")) {
            synchronized (kept) {
                return find(id % HALLS);
            }
        }
        return find(id % HALLS);
    }

    private Plan find(int hall) {
        Plan known = kept.get(hall);
        if (known == null || System.nanoTime() - known.asked() > KEPT) {
            known = halls.ask(hall);
            kept.put(hall, known);
        }
        return known;
    }
}
