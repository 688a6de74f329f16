import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A ledger that books in 14 ms and could do hundreds side by side. */
public class Ledger {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 1000, InetAddress.getByName(addr[0]));
        while (true) {
            Socket client = listener.accept();
            Thread t = new Thread(null, () -> book(client), "book", 256 << 10);
            t.setDaemon(true);
            t.start();
        }
    }

    static void book(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
            for (int n = 1; in.readLine() != null; n++) {
                Thread.sleep(14);
                client.getOutputStream().write(("booked " + n + "\n").getBytes());
            }
        } catch (IOException | InterruptedException e) {
            // closed
        }
    }
}
