import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Collects lines of a log and, while it changes its files, reads nothing for 650 ms. */
public class Collector {
    public static void main(String[] args) throws IOException {
        boolean stops = !"0".equals(System.getenv("FAULT"));
        String[] at = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket();
        door.setReceiveBufferSize(4096);
        door.bind(new InetSocketAddress(at[0], Integer.parseInt(at[1])));
        while (true) {
            Socket sender = door.accept();
            new Thread(() -> collect(sender, stops)).start();
        }
    }

    private static void collect(Socket sender, boolean stops) {
        byte[] buffer = new byte[2048];
        long next = System.nanoTime() + 1_000_000_000L;
        try (sender) {
            InputStream in = sender.getInputStream();
            while (in.read(buffer) >= 0) {
                if (stops && System.nanoTime() > next) {
                    Thread.sleep(650);
                    next = System.nanoTime() + 1_000_000_000L;
                }
            }
        } catch (IOException | InterruptedException e) {
            // the service has ended
        }
    }
}
