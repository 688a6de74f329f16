import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** A panel of households: the last sheet of each is kept, answer by answer. */
public class Main {
    private static final int HOUSEHOLDS = "0".equals(System.getenv("FAULT")) ? 20 : 1000;
    private static final int ANSWERS = 10_000;

    static final class Answer {
        final Answer before;
        final Object said;
        final long when;

        Answer(Answer before, long when) {
            this.before = before;
            this.when = when;
            this.said = Long.valueOf(when ^ 0x5DEECE66DL);
        }
    }

    private final AtomicReferenceArray<Answer> last = new AtomicReferenceArray<>(HOUSEHOLDS);

    public static void main(String[] args) throws IOException {
        Main main = new Main();
        for (int i = 0; i < HOUSEHOLDS; i++) {
            main.last.set(i, sheet(i));
        }
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 500);
        server.createContext("/answers/", main::take);
        server.setExecutor(Executors.newFixedThreadPool(40));
        server.start();
    }

    void take(HttpExchange x) throws IOException {
        long n = Long.parseLong(x.getRequestURI().getPath().substring("/answers/".length()));
        Answer sheet = sheet(n);
        Answer old = last.getAndSet(Math.floorMod(Long.hashCode(n * 0x9E3779B97F4A7C15L), HOUSEHOLDS), sheet);
        byte[] body = ("thanks; before: " + old.when + " " + old.said).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    private static Answer sheet(long seed) {
        Answer a = null;
        for (int i = 0; i < ANSWERS; i++) {
            a = new Answer(a, seed * 31 + i);
        }
        return a;
    }
}
