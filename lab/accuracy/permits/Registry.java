import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The registry of vehicles answers in 16 ms, as it did last year. */
public class Registry {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 100, InetAddress.getByName(addr[0]))) {
            for (;;) {
                Socket client = listener.accept();
                client.setTcpNoDelay(true);
                new Thread(() -> answer(client)).start();
            }
        }
    }

    static void answer(Socket client) {
        try (client; BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            for (String plate; (plate = in.readLine()) != null; ) {
                Thread.sleep(16);
                client.getOutputStream().write(("owner " + plate.hashCode() + "\n").getBytes());
            }
        } catch (IOException | InterruptedException e) {
            // closed
        }
    }
}
