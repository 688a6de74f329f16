import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/** Gilds frames: each bench takes one at a time, and the size needs 20 ms until the leaf holds. A virtual thread of the shop's own works on each. */
public class Main {
    private static final boolean PIN = !"0".equals(System.getenv("FAULT"));
    private final Bench[] benches = new Bench[300];

    Main() {
        for (int i = 0; i < benches.length; i++) {
            benches[i] = new Bench();
        }
    }

    public static void main(String[] args) throws Exception {
        Main shop = new Main();
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 600);
        server.createContext("/frame/", shop::frame);
        ThreadFactory gilders = gilders();
        server.setExecutor(work -> gilders.newThread(work).start());
        server.start();
    }

    /** Thread.ofVirtual().name("gilder-", 0).factory(), which a compiler before Java 21 does not know. */
    static ThreadFactory gilders() throws ReflectiveOperationException {
        Class<?> builder = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object named = builder.getMethod("name", String.class, long.class).invoke(Thread.class.getMethod("ofVirtual").invoke(null), "gilder-", 0L);
        return (ThreadFactory) builder.getMethod("factory").invoke(named);
    }

    void frame(HttpExchange x) throws IOException {
        int number = Integer.parseInt(x.getRequestURI().getPath().substring("/frame/".length()));
        byte[] body = ("frame " + number + " has " + benches[number % benches.length].gild(number) + " leaves").getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    static final class Bench {
        private final ReentrantLock turn = new ReentrantLock();

        int gild(int number) {
            if (PIN) {
                synchronized (this) {
                    return lay(number);
                }
            }
            turn.lock();
            try {
                return lay(number);
            } finally {
                turn.unlock();
            }
        }

        private int lay(int number) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return 12 + number % 7;
        }
    }
}
