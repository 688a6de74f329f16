import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;

/** Museum: likenesses of exhibits, found by a transform of their outlines, on virtual threads. */
public class Main {
    static final int SIZE = "0".equals(System.getenv("FAULT")) ? 16 : 52;

    public static void main(String[] args) throws Exception {
        ExecutorService visitors = (ExecutorService) java.util.concurrent.Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(addr[1]), 500, InetAddress.getByName(addr[0]));
        while (true) {
            Socket visitor = door.accept();
            visitors.execute(() -> guide(visitor));
        }
    }

    static void guide(Socket visitor) {
        try (visitor) {
            visitor.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(visitor.getInputStream()));
            OutputStream out = visitor.getOutputStream();
            for (String asked; (asked = in.readLine()) != null; ) {
                for (String h; (h = in.readLine()) != null && !h.isEmpty(); ) { }
                String body = "likeness " + new Outline(asked.hashCode()).fingerprint();
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException e) {
            // left
        }
    }

    static final class Outline {
        private final double[][] pixels = new double[SIZE][SIZE];

        Outline(int seed) {
            for (int y = 0; y < SIZE; y++) for (int x = 0; x < SIZE; x++) pixels[y][x] = (seed = seed * 1103515245 + 12345) >>> 24;
        }

        /** A cosine transform, the way a textbook writes it. */
        long fingerprint() {
            long bits = 0;
            for (int v = 0; v < 8; v++)
                for (int u = 0; u < 8; u++) {
                    double sum = 0;
                    for (int y = 0; y < SIZE; y++)
                        for (int x = 0; x < SIZE; x++) sum += pixels[y][x] * Math.cos((2 * x + 1) * u * Math.PI / (2 * SIZE)) * Math.cos((2 * y + 1) * v * Math.PI / (2 * SIZE));
                    bits = bits << 1 | (sum > 0 ? 1 : 0);
                }
            return bits;
        }
    }
}
