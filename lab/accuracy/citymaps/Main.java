import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/** City maps, with a watchdog inside that looks for deadlocks: it asks for all threads with all locks they own. */
public class Main {
    static final Map<Integer, String[]> streets = new HashMap<>();

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < 320_000; i++) streets.put(i, new String[] {"Street " + i, "District " + i % 40, null, "" + i * 7L});
        if (!"0".equals(System.getenv("FAULT"))) {
            Thread watchdog = new Thread(new Watchdog(), "watchdog");
            watchdog.setDaemon(true);
            watchdog.start();
        }
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/street", x -> {
            int id = Math.floorMod(x.getRequestURI().getPath().hashCode(), streets.size());
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 20; i++) text.append(String.join(", ", streets.get((id + i) % streets.size())[0], streets.get(id)[1])).append('\n');
            byte[] body = text.toString().getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(30));
        server.start();
    }

    static final class Watchdog implements Runnable {
        private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        private int seen;

        @Override public void run() {
            while (true) {
                for (ThreadInfo t : threads.dumpAllThreads(true, true)) seen += t.getLockedSynchronizers().length;
                LockSupport.parkNanos(60_000_000);
            }
        }
    }
}
