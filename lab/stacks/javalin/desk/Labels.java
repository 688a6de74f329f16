package desk;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Labels are printed by threads of their own, so that a request can give up. */
class Labels {
    private final Carriers carriers;
    private final ThreadPoolExecutor printers;

    Labels(Carriers carriers) {
        this.carriers = carriers;
        AtomicInteger number = new AtomicInteger();
        ThreadFactory named = task -> new Thread(task, "label-printer-" + number.incrementAndGet());
        // An executor adds a thread beyond the first ones only if its queue is full, and this queue never is.
        int first = Main.fault("executor-queue") ? 2 : 32;
        printers = new ThreadPoolExecutor(first, 32, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named);
    }

    String print(String order) throws ExecutionException, InterruptedException, TimeoutException {
        return printers.submit(() -> carriers.get("/labels/" + order)).get(10, TimeUnit.SECONDS);
    }
}
