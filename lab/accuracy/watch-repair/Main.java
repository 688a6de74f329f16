import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import com.sun.net.httpserver.HttpServer;

/**
 * Estimates for old watches. One watchmaker has all the benches: whoever wants an estimate takes the bench's lock in
 * turn (it is a fair one), and keeps it while the parts dealer is asked, who needs his 70 ms as ever.
 */
public final class Main {
    private final ReentrantLock[] benches;
    private final ThreadLocal<Dealer> dealers = ThreadLocal.withInitial(Dealer::new);

    private Main(int benches) {
        this.benches = new ReentrantLock[benches];
        for (int i = 0; i < benches; i++) this.benches[i] = new ReentrantLock(true);
    }

    private String estimate(String watch) {
        ReentrantLock bench = benches[Math.floorMod(watch.hashCode(), benches.length)];
        bench.lock();
        try {
            return watch + ": " + dealers.get().priceOfParts(watch);
        } finally {
            bench.unlock();
        }
    }

    private static final class Dealer {
        private final Socket line;
        private final BufferedReader in;

        Dealer() {
            try {
                String[] at = System.getenv("ADDR_DEALER").split(":");
                line = new Socket(at[0], Integer.parseInt(at[1]));
                in = new BufferedReader(new InputStreamReader(line.getInputStream()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        String priceOfParts(String watch) {
            try {
                line.getOutputStream().write(("GET " + watch + "\n").getBytes());
                return in.readLine();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        Main shop = new Main("0".equals(System.getenv("FAULT")) ? 5000 : 1);
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 500);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/estimate/", exchange -> {
            byte[] answer = shop.estimate(exchange.getRequestURI().getPath().substring(10)).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            try (var out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        server.start();
    }
}
