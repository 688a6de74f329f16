import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Toll: passages of lorries in rings by lane, each with the readings of its axles; the newest push out the oldest. */
public class Main {
    static final class Passage {
        final String plate;
        final Passage before; // of the same lorry, one deep
        final float[][] axles = new float[80][];

        Passage(String plate, Passage before) {
            this.plate = plate;
            this.before = before;
            for (int i = 0; i < axles.length; i++) {
                axles[i] = new float[100];
                axles[i][i % 100] = plate.hashCode() / (i + 1f);
            }
        }

        Passage alone() { return new Passage(plate, null); }
    }

    static final int LANES = 8, DEPTH = 300;
    static final AtomicReferenceArray<Passage> rings = new AtomicReferenceArray<>(LANES * DEPTH);
    static final AtomicLong passages = new AtomicLong();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < rings.length(); i++) rings.set(i, new Passage("old-" + i, null));
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/pass", x -> {
            byte[] body = pass(x.getRequestURI().getPath().substring(6)).getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.start();
    }

    static String pass(String plate) {
        int slot = (int) (passages.getAndIncrement() % rings.length());
        Passage before = rings.get(slot);
        rings.set(slot, new Passage(plate, before == null ? null : before.alone()));
        return "toll " + Math.floorMod(plate.hashCode(), 90) + " EUR";
    }
}
