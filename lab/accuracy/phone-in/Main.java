import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A phone-in on the radio, on virtual threads. Listeners ask for the song; the studio's screens poll for callers and
 * hang on up to eight seconds; the transmitter reads the running order as a stream.
 */
public class Main {
    record Caller(String name, String wish) {}

    static final Map<String, LinkedBlockingQueue<Caller>> studios = new ConcurrentHashMap<>();
    static final AtomicLong calls = new AtomicLong();

    static LinkedBlockingQueue<Caller> studio(HttpExchange x) {
        return studios.computeIfAbsent(x.getRequestURI().getQuery(), s -> new LinkedBlockingQueue<>());
    }

    static void say(HttpExchange x, int status, String text) throws IOException {
        byte[] body = text.getBytes();
        x.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        try (OutputStream out = x.getResponseBody()) {
            out.write(body);
        }
    }

    static void song(HttpExchange x) throws IOException {
        long n = calls.get();
        say(x, 200, "song " + Long.toString(n * 31 % 977, 36) + ", " + n + " calls so far\n");
    }

    static void next(HttpExchange x) throws IOException {
        try {
            Caller caller = studio(x).poll(8, TimeUnit.SECONDS);
            say(x, caller == null ? 204 : 200, caller == null ? "" : caller.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void call(HttpExchange x) throws IOException {
        studio(x).add(new Caller("caller " + calls.incrementAndGet(), "louder"));
        say(x, 202, "hold the line\n");
    }

    static void order(HttpExchange x) throws IOException {
        x.getResponseHeaders().set("Content-Type", "text/event-stream");
        x.sendResponseHeaders(200, 0);
        try (OutputStream out = x.getResponseBody()) {
            for (int item = 0; item < 12; item++) {
                out.write(("data: item " + item + "\n\n").getBytes());
                out.flush();
                Thread.sleep(500);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer radio = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        Map.<String, HttpHandler>of("/song", Main::song, "/next", Main::next, "/call", Main::call, "/order", Main::order,
            "/health", x -> say(x, 200, "UP")).forEach(radio::createContext);
        // by reflection, so that the compiler of JDK 17 takes it
        radio.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        radio.start();
    }
}
