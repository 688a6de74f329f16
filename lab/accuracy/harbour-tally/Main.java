import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * Counts what harbours take in: each count goes into its place in a file that is opened for synchronous writes ("rwd"), five
 * a request. No call of the program's says that it waits for the disk.
 */
public class Main {
    private static final int PLACES = 4096;

    private final RandomAccessFile[] books = new RandomAccessFile[16];

    Main(boolean synced) throws IOException {
        for (int n = 0; n < books.length; n++) {
            books[n] = new RandomAccessFile("tally-" + n + ".dat", synced ? "rwd" : "rw");
            books[n].setLength(PLACES * 64L);
        }
    }

    void tally(int harbour) throws IOException {
        RandomAccessFile book = books[Math.floorMod(harbour, books.length)];
        byte[] line = new byte[64];
        synchronized (book) {
            for (int crane = 0; crane < 5; crane++) {
                book.seek(Math.floorMod(harbour * 31 + crane * 977, PLACES) * 64L);
                line[0]++;
                book.write(line);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        Main tally = new Main(!"0".equals(System.getenv("FAULT")));
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 512);
        server.setExecutor(Executors.newFixedThreadPool(24));
        server.createContext("/tally/", (HttpExchange e) -> {
            String path = e.getRequestURI().getPath();
            tally.tally(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)));
            byte[] done = "kept\n".getBytes(StandardCharsets.US_ASCII);
            e.sendResponseHeaders(200, done.length);
            e.getResponseBody().write(done);
            e.close();
        });
        server.start();
    }
}
