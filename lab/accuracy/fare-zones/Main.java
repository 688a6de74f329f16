import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.StampedLock;

/** Fares between zones: the cheapest way over all others, worked out anew as tariffs change. */
public class Main {
    private static final boolean ASIDE = "0".equals(System.getenv("FAULT"));
    private static final int ZONES = 520;

    private final StampedLock lock = new StampedLock();
    private int[][] fares = compute(1);

    public static void main(String[] args) throws IOException {
        Main main = new Main();
        Thread refresher = new Thread(main::refresh, "tariff-refresher");
        refresher.setDaemon(true);
        refresher.start();
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 500);
        server.createContext("/fare/", main::fare);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    void fare(HttpExchange x) throws IOException {
        String[] path = x.getRequestURI().getPath().split("/");
        int fare;
        long stamp = lock.readLock();
        try {
            fare = fares[Integer.parseInt(path[2])][Integer.parseInt(path[3])];
        } finally {
            lock.unlockRead(stamp);
        }
        byte[] body = ("cents " + fare).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    private void refresh() {
        try {
            for (int tariff = 2; ; tariff++) {
                Thread.sleep(110);
                int[][] fresh = ASIDE ? compute(tariff) : null;
                long stamp = lock.writeLock();
                try {
                    fares = ASIDE ? fresh : compute(tariff);
                } finally {
                    lock.unlockWrite(stamp);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Floyd and Warshall's, on distances drawn for a tariff. */
    private static int[][] compute(int tariff) {
        int[][] d = new int[ZONES][ZONES];
        for (int i = 0; i < ZONES; i++) {
            Arrays.setAll(d[i], j -> 100 + Math.floorMod((tariff * 31 + j) * 7919 + d[0].length * j, 900));
            d[i][i] = 0;
        }
        for (int k = 0; k < ZONES; k++) {
            for (int i = 0; i < ZONES; i++) {
                int to = d[i][k];
                for (int j = 0; j < ZONES; j++) {
                    if (to + d[k][j] < d[i][j]) {
                        d[i][j] = to + d[k][j];
                    }
                }
            }
        }
        return d;
    }
}
