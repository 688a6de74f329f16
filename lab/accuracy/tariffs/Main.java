import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;

/** Parcel tariffs: prices by zone, weight and day, from one sheet that everybody reads under its monitor. */
public class Main {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        Sheet[] sheets = new Sheet["0".equals(System.getenv("FAULT")) ? 64 : 1];
        for (int i = 0; i < sheets.length; i++) sheets[i] = new Sheet(2_600, i);
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 1000);
        server.createContext("/price", new Quote(sheets));
        server.createContext("/zones", e -> reply(e, "A B C D E F"));
        server.setExecutor(Executors.newFixedThreadPool(200));
        server.start();
    }

    static class Quote implements HttpHandler {
        final Sheet[] sheets;
        Quote(Sheet[] sheets) { this.sheets = sheets; }

        @Override public void handle(HttpExchange e) throws IOException {
            int parcel = e.getRequestURI().getPath().hashCode();
            Sheet sheet = sheets[Math.floorMod(parcel, sheets.length)];
            reply(e, "price " + sheet.cheapest(parcel));
        }
    }

    static class Sheet {
        private final double[] base;
        private final double[] scratch;

        Sheet(int rows, long seed) {
            base = new SplittableRandom(seed).doubles(rows, 1, 90).toArray();
            scratch = new double[rows];
        }

        /** Some 3 ms of work: surcharges of every row, sorted. */
        synchronized double cheapest(int parcel) {
            double grams = Math.floorMod(parcel, 30_000);
            for (int round = 0; round < 8; round++) {
                for (int i = 0; i < base.length; i++)
                    scratch[i] = base[i] * Math.log1p(grams + round) + Math.cbrt(i * grams) + Math.sin(i + round);
                Arrays.sort(scratch);
            }
            return scratch[0];
        }
    }

    static void reply(HttpExchange e, String text) throws IOException {
        byte[] body = text.getBytes();
        e.sendResponseHeaders(200, body.length);
        e.getResponseBody().write(body);
        e.close();
    }
}
