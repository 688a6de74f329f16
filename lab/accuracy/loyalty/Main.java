import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;

/** Loyalty points: every visit registers a listener with the campaign, and none is ever taken away. */
public class Main {
    static final class Visit {
        final String customer;
        final List<String> basket = new ArrayList<>();
        Visit(String customer) {
            this.customer = customer;
            for (int i = 0; i < 30; i++) basket.add("article " + i + " for " + customer);
        }
    }

    static final class Campaign {
        private final List<Visit> visits = new ArrayList<>();
        synchronized void join(Visit v) {
            if (!TIDY || visits.size() < 1000) visits.add(v);
        }
        synchronized int size() { return visits.size(); }
    }

    /** What the tills have sent in the last moments, to find receipts that came twice. */
    static final ArrayDeque<long[][]> receipts = new ArrayDeque<>();

    static void receipt() {
        long[][] receipt = new long[120][120];
        synchronized (receipts) {
            receipts.add(receipt);
            if (receipts.size() > 130) receipts.remove();
        }
    }

    static final Map<Integer, String[]> products = new HashMap<>();
    static final boolean TIDY = "0".equals(System.getenv("FAULT"));
    static final ConcurrentMap<Integer, Campaign> campaigns = new ConcurrentHashMap<>();

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < 550_000; i++) products.put(i, new String[] {"product no. " + i, "shelf " + i % 300, null, null});
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        server.createContext("/visit", x -> {
            String customer = x.getRequestURI().getPath();
            Campaign campaign = campaigns.computeIfAbsent(customer.length() % 3, k -> new Campaign());
            campaign.join(new Visit(customer));
            receipt();
            byte[] body = ("points " + campaign.size()).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(12));
        server.start();
    }
}
