import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** Prices of lace by guild and pattern, each good for some minutes. FAULT=0 asks for a stale price outside of the map. */
public class Main {
    record Pattern(int guild, int number) {
        @Override
        public int hashCode() { return guild; }
    }

    record Price(String text, long until) {}

    static final long GOOD_FOR = 250_000; // ms
    static final boolean fault = !"0".equals(System.getenv("FAULT"));
    static final String[] office = System.getenv("ADDR_OFFICE").split(":");
    static final ConcurrentHashMap<Pattern, Price> prices = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        Random random = new Random(5);
        for (int guild = 0; guild < 4; guild++) // prices of yesterday, which end one after the other
            for (int number = 0; number < 199; number++)
                prices.put(new Pattern(guild, number), new Price("9 florins", System.currentTimeMillis() + random.nextLong(4 * GOOD_FOR)));
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/price/", x -> {
            String[] path = x.getRequestURI().getPath().split("/");
            byte[] body = priceOf(new Pattern(Integer.parseInt(path[2]), Integer.parseInt(path[3]))).text().getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    static Price priceOf(Pattern pattern) {
        if (!fault) {
            Price known = prices.get(pattern);
            if (known == null || known.until() < System.currentTimeMillis()) prices.put(pattern, known = askOffice(pattern));
            return known;
        }
        Price price = prices.computeIfAbsent(pattern, Main::askOffice);
        if (price.until() >= System.currentTimeMillis()) return price;
        prices.remove(pattern, price);
        return prices.computeIfAbsent(pattern, Main::askOffice);
    }

    static Price askOffice(Pattern pattern) {
        try (Socket socket = new Socket(office[0], Integer.parseInt(office[1]))) {
            socket.getOutputStream().write(("GET " + pattern.guild() + "-" + pattern.number() + "\n").getBytes());
            String said = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            return new Price(said.substring(0, 12), System.currentTimeMillis() + GOOD_FOR * 4);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
