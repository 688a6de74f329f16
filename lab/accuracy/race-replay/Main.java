import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;

/**
 * Horse races: every view of a race draws the course anew, as thousands of small objects, and keeps
 * it for 1.2 s for whoever wants it replayed. A young generation of 1.8 GB is collected only every
 * few seconds, but all that is kept has to be copied each time. With FAULT=0 a view is kept for
 * 20 ms, and the same collections copy next to nothing: p95 and p99 are 1.8 and 4.0 ms instead of
 * 154 and 266 ms.
 */
public class Main {
    private static final long KEPT = "0".equals(System.getenv("FAULT")) ? 20_000_000L : 1_200_000_000L;

    /** Where a horse was, and where it had been before. */
    private static final class Step {
        final Step before;
        final float at;
        final int horse;

        Step(Step before, float at, int horse) {
            this.before = before;
            this.at = at;
            this.horse = horse;
        }
    }

    private record View(long taken, Step[] horses) { }

    private static final Deque<View> REPLAYS = new ArrayDeque<>();

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 500);
        server.createContext("/race/", Main::race);
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.start();
    }

    private static void race(HttpExchange x) throws IOException {
        int seed = x.getRequestURI().getPath().hashCode();
        Step[] horses = new Step[10];
        for (int second = 0; second < 4200; second++) {
            for (int h = 0; h < horses.length; h++) {
                seed = seed * 1_103_515_245 + 12_345;
                float was = horses[h] == null ? 0 : horses[h].at;
                horses[h] = new Step(horses[h], was + 12 + (seed >>> 24) / 64f, h);
            }
        }
        keep(new View(System.nanoTime(), horses));
        Step first = horses[0];
        for (Step s : horses) {
            first = s.at > first.at ? s : first;
        }
        byte[] body = ("horse " + first.horse + " leads").getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    private static void keep(View v) {
        synchronized (REPLAYS) {
            REPLAYS.addLast(v);
            while (v.taken - REPLAYS.peekFirst().taken > KEPT) {
                REPLAYS.removeFirst();
            }
        }
    }
}
