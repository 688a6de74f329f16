package ferry;

import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;

/** The timetable of next week, which a job looks through for clashes each five seconds on a thread of its own: work that nobody waits for. */
@Singleton
class Timetable {
    private static final int SAILINGS = 2600;
    private final AtomicInteger clashes = new AtomicInteger();

    @Scheduled(initialDelay = "2s", fixedDelay = "5s")
    void look() {
        int found = 0;
        for (int a = 0; a < SAILINGS; a++) {
            BitSet taken = new BitSet(512);
            taken.set(a % 448, a % 448 + 40);
            for (int b = a + 1; b < SAILINGS; b++) {
                int from = b * 31 % 448;
                if (b % 9 == a % 9 && taken.get(from, from + 40).cardinality() > 30) {
                    found++;
                }
            }
        }
        clashes.set(found);
    }
}
