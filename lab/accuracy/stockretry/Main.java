import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Stock: articles are taken with compare-and-set; who loses backs off for a while, which doubles. */
public class Main {
    static final AtomicIntegerArray stock = new AtomicIntegerArray(64);
    static final boolean RESERVED = !"0".equals(System.getenv("FAULT"));

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < stock.length(); i++) stock.set(i, 1_000_000);
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/take", Main::take);
        server.setExecutor(new ThreadPoolExecutor(8, 400, 30, TimeUnit.SECONDS, new SynchronousQueue<>()));
        server.start();
    }

    static void take(HttpExchange x) throws IOException {
        int article = Math.floorMod(x.getRequestURI().hashCode(), stock.length());
        int left = attempt(article);
        String body = "left " + left;
        x.sendResponseHeaders(200, body.length());
        x.getResponseBody().write(body.getBytes());
        x.close();
    }

    static int attempt(int article) {
        Backoff backoff = new Backoff(20);
        while (true) {
            int now = stock.get(article);
            // the reservation of a campaign holds one in two articles back now and then
            boolean held = RESERVED && ThreadLocalRandom.current().nextInt(100) < 45;
            if (!held && stock.compareAndSet(article, now, now - 1)) return now - 1;
            backoff.pause();
        }
    }

    static final class Backoff {
        private long millis;

        Backoff(long first) { millis = first; }

        void pause() {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            millis = Math.min(millis * 2, 500);
        }
    }
}
