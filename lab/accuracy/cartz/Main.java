import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Shopping carts: each view of a cart is assembled from copies of copies. */
public class Main {
    static final class Cart {
        final List<String> articles;
        Cart(int n) { articles = IntStream.range(0, 30).mapToObj(i -> "article-" + n + "-" + i).collect(Collectors.toList()); }
    }

    static final Map<Integer, Cart> carts = new ConcurrentHashMap<>();

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < 60_000; i++) carts.put(i, new Cart(i));
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        server.createContext("/cart", x -> {
            int id = Math.floorMod(x.getRequestURI().getPath().hashCode(), carts.size());
            byte[] body = view(carts.get(id)).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(24));
        server.start();
    }

    static String view(Cart cart) {
        List<String> rows = new ArrayList<>();
        byte[][] sheets = new byte[24][];
        for (int sheet = 0; sheet < 24; sheet++) {
            sheets[sheet] = new byte[40_000];
            for (String a : cart.articles) rows.add(a + ":" + sheet);
        }
        return rows.size() + " rows, " + sheets.length + " sheets, first " + rows.get(0);
    }
}
