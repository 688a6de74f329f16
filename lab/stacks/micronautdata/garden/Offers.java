package garden;

import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

/** What each plant costs today: of all combinations of rebates the best. Each two seconds a job works out those that have changed, with the fault all. */
@Singleton
public class Offers {
    private static final int PLANTS = 2000;
    private final AtomicIntegerArray cents = new AtomicIntegerArray(PLANTS);
    private final ExecutorService workers = Executors.newFixedThreadPool(16, work -> {
        Thread thread = new Thread(work, "offers");
        thread.setDaemon(true);
        return thread;
    });
    private int changed;

    int of(int plant) {
        return cents.get(plant % PLANTS);
    }

    @Scheduled(initialDelay = "1s", fixedDelay = "2s")
    void workOut() throws ExecutionException, InterruptedException {
        if (Main.fault("all-offers")) {
            List<Future<?>> running = IntStream.range(0, PLANTS).<Future<?>>mapToObj(plant -> workers.submit(() -> workOut(plant))).toList();
            for (Future<?> one : running) {
                one.get();
            }
            return;
        }
        for (int n = 0; n < 20; n++) {
            workOut(changed++ % PLANTS);
        }
    }

    private void workOut(int plant) {
        int best = Integer.MAX_VALUE;
        for (int rebates = 0; rebates < 1 << 16; rebates++) {
            int price = 100_000 + plant * 7;
            for (int left = rebates; left != 0; left &= left - 1) {
                price -= price / (23 + Integer.numberOfTrailingZeros(left) * 3 + plant % 5);
            }
            if (price > 20_000) {
                best = Math.min(best, price);
            }
        }
        cents.set(plant, best);
    }
}
