import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures water in 4 ms; one sample of six is sent on, which takes 300 ms. */
public final class Laboratory {
    private static final boolean SLOW = !"0".equals(System.getenv("FAULT"));
    private static final AtomicInteger SAMPLES = new AtomicInteger();

    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        try (ServerSocket door = new ServerSocket(Integer.parseInt(at[1]), 200, InetAddress.getByName(at[0]))) {
            while (true) {
                Socket s = door.accept();
                s.setTcpNoDelay(true);
                Thread t = new Thread(() -> serve(s));
                t.setDaemon(true);
                t.start();
            }
        }
    }

    private static void serve(Socket s) {
        try (s; BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.UTF_8))) {
            for (String bed = in.readLine(); bed != null; bed = in.readLine()) {
                Thread.sleep(SLOW && SAMPLES.incrementAndGet() % 6 == 0 ? 300 : 4);
                s.getOutputStream().write((bed + " has 31 grams of salt\n").getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
