package prices;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Tokens of the login service are good for two seconds, and it takes 300 ms to give one. */
class Tokens {
    private final ReentrantLock lock = new ReentrantLock();
    private final String address;
    private volatile String token;
    private long fetched;

    Tokens(String address) throws IOException, InterruptedException {
        this.address = address;
        token = fetch();
        fetched = System.nanoTime();
        if (!Main.fault("token-lock")) {
            ScheduledExecutorService ahead = Executors.newSingleThreadScheduledExecutor(task -> {
                Thread t = new Thread(task, "token-refresh");
                t.setDaemon(true);
                return t;
            });
            ahead.scheduleAtFixedRate(this::refresh, 1, 1, TimeUnit.SECONDS);
        }
    }

    String current() throws IOException, InterruptedException {
        if (!Main.fault("token-lock")) {
            return token;
        }
        lock.lock();
        try {
            if (System.nanoTime() - fetched > Duration.ofSeconds(2).toNanos()) {
                token = fetch();
                fetched = System.nanoTime();
            }
            return token;
        } finally {
            lock.unlock();
        }
    }

    private void refresh() {
        try {
            token = fetch();
        } catch (IOException e) {
            System.err.println("the old token is kept: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String fetch() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/token")).timeout(Duration.ofSeconds(15)).build();
        String answer = Supplier.HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body();
        return Base64.getEncoder().encodeToString(answer.getBytes());
    }
}
