import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Market data: the books of some hundred instruments, kept by a feed, and their depth on request. */
public class Main {
    static final int INSTRUMENTS = 400, LEVELS = 150;

    static final class Book {
        final ConcurrentSkipListMap<Long, Long> bids = new ConcurrentSkipListMap<>();
        final ConcurrentSkipListMap<Long, Long> asks = new ConcurrentSkipListMap<>();
    }

    static final class Depth {
        final String side;
        final List<long[]> rows = new ArrayList<>();
        Depth(String side) { this.side = side; }
    }

    static final Map<Integer, Book> BOOKS = new ConcurrentHashMap<>();

    public static void main(String[] args) throws IOException {
        Random random = new Random(11);
        for (int i = 0; i < INSTRUMENTS; i++) {
            Book book = new Book();
            for (int l = 0; l < LEVELS; l++) {
                book.bids.put(100_000L - l * 5, (long) random.nextInt(1_000_000));
                book.asks.put(100_005L + l * 5, (long) random.nextInt(1_000_000));
            }
            BOOKS.put(i, book);
        }
        ScheduledExecutorService feed = Executors.newSingleThreadScheduledExecutor();
        feed.scheduleAtFixedRate(() -> tick(random), 100, 20, TimeUnit.MILLISECONDS);

        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 512);
        server.createContext("/depth", Main::depth);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    static void tick(Random random) {
        for (int i = 0; i < 1000; i++) {
            Book book = BOOKS.get(random.nextInt(INSTRUMENTS));
            book.bids.put(100_000L - random.nextInt(LEVELS) * 5, (long) random.nextInt(1_000_000));
            book.asks.put(100_005L + random.nextInt(LEVELS) * 5, (long) random.nextInt(1_000_000));
        }
    }

    static void depth(HttpExchange exchange) throws IOException {
        int id = Math.floorMod(exchange.getRequestURI().getPath().hashCode(), INSTRUMENTS);
        StringBuilder json = new StringBuilder("{\"books\":[");
        for (int near = 0; near < 6; near++) {
            Book book = BOOKS.get((id + near) % INSTRUMENTS);
            write(json, collect("bid", book.bids.descendingMap()));
            write(json, collect("ask", book.asks));
        }
        byte[] body = json.append("{}]}").toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    static Depth collect(String side, Map<Long, Long> levels) {
        Depth depth = new Depth(side);
        long sum = 0;
        for (Map.Entry<Long, Long> e : levels.entrySet()) {
            sum += e.getValue();
            depth.rows.add(new long[] {e.getKey(), e.getValue(), sum});
        }
        return depth;
    }

    static void write(StringBuilder json, Depth depth) {
        json.append("{\"side\":\"").append(depth.side).append("\",\"rows\":[");
        for (long[] row : depth.rows) json.append('[').append(row[0] + "," + row[1] + "," + row[2]).append("],");
        json.append("[]]},");
    }
}
