import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** Prints luggage tags. Its heap is tiny, so young collections come often and find next to nothing alive. */
public final class Main {
    record Leg(String from, String to, String flight) {}

    private static final String[] AIRPORTS = {"FRA", "CDG", "AMS", "VIE", "ZRH", "CPH", "OSL", "LIS", "MAD", "ATH"};

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 256);
        server.createContext("/tag/", Main::tag);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }

    private static void tag(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
            byte[] answer = print(number).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(200, answer.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        }
    }

    /** A tag has a line for each leg and a drawing of its bars. */
    private static String print(int number) {
        List<Leg> legs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            legs.add(new Leg(AIRPORTS[(number + i) % 10], AIRPORTS[(number + i + 1) % 10], "UX" + (100 + (number * 7 + i) % 900)));
        }
        StringBuilder out = new StringBuilder();
        for (Leg leg : legs) {
            out.append(String.format("%s %s %s%n", leg.from(), leg.to(), leg.flight()));
        }
        for (int row = 0; row < 60; row++) {
            StringBuilder bars = new StringBuilder();
            for (int i = 0; i < 96; i++) {
                bars.append((number >> (i % 20) & 1) == 0 ? '|' : ' ');
            }
            out.append(bars).append('\n');
        }
        return out.toString();
    }
}
