package pharmacy;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;

/** Rounds of the vans that bring medicines: a new one is planned three seconds after the last, from a list of all stops, and all vans that wait are told. */
@Service
public class Rounds {
    private static final int STOPS = 700;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition planned = lock.newCondition();
    private int round;

    int next() throws InterruptedException {
        lock.lock();
        try {
            int seen = round;
            while (round == seen) {
                planned.await();
            }
            return round;
        } finally {
            lock.unlock();
        }
    }

    @Scheduled(fixedDelay = 3000)
    void plan() {
        int length = lengthOfShortest();
        lock.lock();
        try {
            round += 1 + length % 2;
            planned.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Swaps stops of a round as long as that makes it shorter, some 40 ms of work. */
    private int lengthOfShortest() {
        int[] stops = new int[STOPS];
        for (int n = 0; n < STOPS; n++) {
            stops[n] = n * 7919 % STOPS;
        }
        for (int pass = 0; pass < 40; pass++) {
            for (int a = 1; a < STOPS - 1; a++) {
                for (int b = a + 1; b < STOPS - 1; b += 1 + pass % 3) {
                    if (Math.abs(stops[a - 1] - stops[b]) + Math.abs(stops[a] - stops[b + 1]) < Math.abs(stops[a - 1] - stops[a]) + Math.abs(stops[b] - stops[b + 1])) {
                        int kept = stops[a];
                        stops[a] = stops[b];
                        stops[b] = kept;
                    }
                }
            }
        }
        int length = 0;
        for (int n = 1; n < STOPS; n++) {
            length += Math.abs(stops[n] - stops[n - 1]);
        }
        return length;
    }
}
