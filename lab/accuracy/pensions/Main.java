import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executors;

/** Pension statements: those of the last seconds stay in memory, in a container with a quarter of a CPU. */
public class Main {
    static final Deque<List<long[]>> statements = new ArrayDeque<>();

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/statement", x -> {
            List<long[]> years = new ArrayList<>();
            for (int month = 0; month < 9000; month++) years.add(new long[] {month, 190_00 + month, x.hashCode(), 1, 2, 3});
            int open;
            synchronized (statements) {
                statements.add(years);
                if (statements.size() > 90) statements.remove();
                open = statements.size();
            }
            byte[] body = ("statement " + years.size() + " of " + open).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(10));
        server.start();
    }
}
